/**
 * The requests that are measured, and what ours should reach in each.
 *
 * @module
 */

import { Buffer } from "node:buffer";

/** The key that every server accepts. */
export const KEY = "pet_bench_0123456789abcdefghijklmnopqrstu";

/** A request, sent again and again. */
export interface Case {
  readonly name: string;
  /** Path and query. */
  readonly target: string;
  /** Without it, the request has no `Authorization`. */
  readonly key?: string | undefined;
  /** Sent by POST. */
  readonly body?: string;
  /** The status that every answer must have. */
  readonly status: number;
  readonly targets: Targets;
}

/** The least ratios of processor time for one request that are good enough. */
export interface Targets {
  /** The floor over ours. */
  readonly floor: number;
  /** Ours over the standalone server. */
  readonly standalone: number;
  /** A framework over ours: with our header fields, and as it is. */
  readonly fields: number;
  readonly framework?: number;
}

/** The case whose request can be sent at any time. */
export const LIST20: Case = {
  name: "list20",
  target: "/v1/pets",
  key: KEY,
  status: 200,
  targets: { floor: 0.75, standalone: 0.9, fields: 1.1, framework: 1 },
};
const LIST100: Case = {
  ...LIST20,
  name: "list100",
  target: "/v1/pets?limit=100&status=available",
  targets: { floor: 0.65, standalone: 0.9, fields: 1.2, framework: 1 },
};
const GET: Case = {
  ...LIST20,
  name: "get",
  target: "/v1/pets/123",
  targets: { floor: 0.85, standalone: 0.85, fields: 1.15 },
};
const POST: Case = {
  ...LIST20,
  name: "post",
  body: '{"name":"Rex","categoryId":1,"status":"available"}',
  status: 201,
  targets: { floor: 0.65, standalone: 0.85, fields: 1 },
};
const UNAUTHORIZED: Case = {
  ...LIST20,
  name: "unauthorized",
  key: undefined,
  status: 401,
  targets: { floor: 0.88, standalone: 0.85, fields: 1.15 },
};
const BAD_LIMIT: Case = {
  ...LIST20,
  name: "bad limit",
  target: "/v1/pets?limit=101",
  status: 400,
  targets: { floor: 0.7, standalone: 0.85, fields: 1 },
};
/** As `post`, but the pets are in SQLite files: no 201 before it is on disk. */
export const DURABLE: Case = { ...POST, name: "durable post" };

/** All cases. */
export const CASES: readonly Case[] = [
  LIST20,
  LIST100,
  GET,
  POST,
  UNAUTHORIZED,
  BAD_LIMIT,
  DURABLE,
];

/** The request of a case as it goes over the wire. */
export function requestText({ target, key, body }: Case, port: number): string {
  const method = body === undefined ? "GET" : "POST";
  const head = [`${method} ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`];
  if (key !== undefined) head.push(`Authorization: Bearer ${key}`);
  if (body !== undefined) {
    const length = Buffer.byteLength(body);
    head.push("Content-Type: application/json", `Content-Length: ${length}`);
  }
  return [...head, "", body].join("\r\n");
}

/** Requests that add pets, the same to every server. */
export function fillingRequests(count: number, port: number): string[] {
  const names = ["Rex", "Luna", "Zoë", "Mr Whiskers", "Müsli"];
  const statuses = ["available", "pending", "sold"];
  return Array.from({ length: count }, (_, i) => {
    const name = `${names[i % names.length]} ${i + 1}`;
    const status = statuses[i % statuses.length];
    const body = JSON.stringify({ name, categoryId: 1 + i % 12, status });
    return requestText({ ...POST, body }, port);
  });
}
