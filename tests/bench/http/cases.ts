/**
 * The requests that are measured.
 *
 * @module
 */

import { checkName } from "../options.ts";

/** The key that every server takes as valid. */
export const KEY = "pet_bench_0123456789abcdefghijklmnopqrstu";

/** A request, sent again and again. */
export interface Case {
  readonly name: string;
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The status that every answer must have. */
  readonly status: number;
}

const authorization = { authorization: `Bearer ${KEY}` };

const CASES: readonly Case[] = [
  {
    name: "list20",
    method: "GET",
    target: "/v1/pets",
    headers: authorization,
    status: 200,
  },
  {
    name: "list100",
    method: "GET",
    target: "/v1/pets?limit=100&status=available",
    headers: authorization,
    status: 200,
  },
  {
    name: "get",
    method: "GET",
    target: "/v1/pets/123",
    headers: authorization,
    status: 200,
  },
  {
    name: "post",
    method: "POST",
    target: "/v1/pets",
    headers: { ...authorization, "content-type": "application/json" },
    body: '{"name":"Rex","categoryId":1,"status":"available"}',
    status: 201,
  },
  {
    name: "unauthorized",
    method: "GET",
    target: "/v1/pets",
    headers: {},
    status: 401,
  },
  {
    name: "bad limit",
    method: "GET",
    target: "/v1/pets?limit=101",
    headers: authorization,
    status: 400,
  },
];

/** The cases of these names, or all. */
export function chooseCases(names: readonly string[] | undefined): Case[] {
  const known = CASES.map(({ name }) => name);
  names?.forEach((name) => checkName(name, known, "case"));
  return CASES.filter(({ name }) => names?.includes(name) ?? true);
}
