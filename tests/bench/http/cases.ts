/**
 * The requests that are measured, and what ours should reach in each.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { choose } from "../options.ts";

/** The key that every server accepts. */
export const KEY = "pet_bench_0123456789abcdefghijklmnopqrstu";

/** A request, sent again and again. */
export interface Case {
  readonly name: string;
  /** Path and query. */
  readonly target: string;
  /** Without it, the request has no `Authorization`. */
  readonly key: string | undefined;
  /** Sent by POST. */
  readonly body: string | undefined;
  /** The status that every answer must have. */
  readonly status: number;
  /** The least ratios that are good enough. */
  readonly targets: Targets;
}

/** Ratios of processor time for one request. */
export interface Targets {
  /** The floor over ours. */
  readonly floor: number;
  /** A framework that adds our header fields over ours. */
  readonly fields: number;
  /** A framework as it is over ours. */
  readonly asIs?: number;
  /** Ours over the standalone server with its log. */
  readonly standalone: number;
}

const CASES: readonly Case[] = [
  {
    ...get("/v1/pets", 200),
    name: "list20",
    targets: { floor: 0.75, fields: 1.1, asIs: 1, standalone: 0.9 },
  },
  {
    ...get("/v1/pets?limit=100&status=available", 200),
    name: "list100",
    targets: { floor: 0.65, fields: 1.2, asIs: 1, standalone: 0.9 },
  },
  {
    ...get("/v1/pets/123", 200),
    name: "get",
    targets: { floor: 0.85, fields: 1.15, standalone: 0.85 },
  },
  {
    ...get("/v1/pets", 201),
    name: "post",
    body: '{"name":"Rex","categoryId":1,"status":"available"}',
    targets: { floor: 0.65, fields: 1, standalone: 0.85 },
  },
  {
    ...get("/v1/pets", 401),
    name: "unauthorized",
    key: undefined,
    targets: { floor: 0.88, fields: 1.15, standalone: 0.85 },
  },
  {
    ...get("/v1/pets?limit=101", 400),
    name: "bad limit",
    targets: { floor: 0.7, fields: 1, standalone: 0.85 },
  },
];

function get(target: string, status: number): Omit<Case, "name" | "targets"> {
  return { target, status, key: KEY, body: undefined };
}

/** The cases of these names, or all. */
export function chooseCases(names: readonly string[] | undefined): Case[] {
  const known = CASES.map(({ name }) => name);
  names?.forEach((name) => choose(name, known, "case"));
  return CASES.filter(({ name }) => names?.includes(name) ?? true);
}

/** The request of a case as it goes over the wire. */
export function requestText(
  { target, key, body }: Pick<Case, "target" | "key" | "body">,
  port: number,
): string {
  return [
    `${body === undefined ? "GET" : "POST"} ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...key === undefined ? [] : [`Authorization: Bearer ${key}`],
    ...body === undefined ? [] : [
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ],
    "",
    body ?? "",
  ].join("\r\n");
}
