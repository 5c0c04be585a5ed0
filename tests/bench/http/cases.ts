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
  readonly key?: string;
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
  /** A framework that adds our header fields over ours. */
  readonly fields: number;
  /** A framework as it is over ours. */
  readonly framework?: number;
  /** Ours over the standalone server. */
  readonly standalone: number;
}

/** The case whose answer every server can give first. */
export const LIST20: Case = {
  name: "list20",
  target: "/v1/pets",
  key: KEY,
  status: 200,
  targets: { floor: 0.75, fields: 1.1, framework: 1, standalone: 0.9 },
};

/** The case that storages are measured by. */
export const POST: Case = {
  ...LIST20,
  name: "post",
  body: '{"name":"Rex","categoryId":1,"status":"available"}',
  status: 201,
  targets: { floor: 0.65, fields: 1, standalone: 0.85 },
};

/** All cases. */
export const CASES: readonly Case[] = [
  LIST20,
  {
    ...LIST20,
    name: "list100",
    target: "/v1/pets?limit=100&status=available",
    targets: { floor: 0.65, fields: 1.2, framework: 1, standalone: 0.9 },
  },
  {
    ...LIST20,
    name: "get",
    target: "/v1/pets/123",
    targets: { floor: 0.85, fields: 1.15, standalone: 0.85 },
  },
  POST,
  {
    name: "unauthorized",
    target: "/v1/pets",
    status: 401,
    targets: { floor: 0.88, fields: 1.15, standalone: 0.85 },
  },
  {
    ...LIST20,
    name: "bad limit",
    target: "/v1/pets?limit=101",
    status: 400,
    targets: { floor: 0.7, fields: 1, standalone: 0.85 },
  },
];

/** The request of a case as it goes over the wire. */
export function requestText(
  { target, key, body = "" }: Case,
  port: number,
): string {
  return [
    `${body === "" ? "GET" : "POST"} ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...key === undefined ? [] : [`Authorization: Bearer ${key}`],
    ...body === "" ? [] : [
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ],
    "",
    body,
  ].join("\r\n");
}
