/**
 * The requests that are measured.
 */

import { rawRequest } from "../../contract/wire.ts";

/** A request, sent again and again. */
export interface Case {
  readonly name: string;
  readonly title: string;
  /** Path and query, in which {@linkcode RANDOM} stands for the id of any pet. */
  readonly target: string;
  /** The status that every answer must have. */
  readonly status: number;
  /** The header fields beside `Host` and `Content-Length`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Sent by POST. */
  readonly body: string | null;
}

/** Another id in every request. */
export const RANDOM = "RANDOM";

/** The key that every server accepts. */
export const KEY = "pet_bench_0123456789abcdefghijklmnopqrstu";

const PETS = "/v1/pets";
const authorization = `Bearer ${KEY}`;

/** The page that shows whether a server listens. */
export const FIRST_PAGE: Case = read("page20", "first page of 20", PETS);

/** All cases; the last one adds pets. */
export const CASES: readonly Case[] = [
  FIRST_PAGE,
  read("page100", "page of 100", `${PETS}?limit=100`),
  read("pages", "random pages of 20", `${PETS}?after=${RANDOM}`),
  read("pet", "one pet", `${PETS}/123`),
  read("pets", "random pets", `${PETS}/${RANDOM}`),
  {
    ...{ name: "create", title: "create", target: PETS, status: 201 },
    fields: { authorization, "content-type": "application/json" },
    body: '{"name":"Rex","categoryId":1,"status":"available"}',
  },
];

function read(name: string, title: string, target: string): Case {
  const fields = { authorization };
  return { name, title, target, status: 200, fields, body: null };
}

/** The title of a case, by its name. */
export function titleOf(name: string): string {
  return CASES.find((one) => one.name === name)?.title ?? name;
}

/** The request of a case as it goes over the wire. */
export function requestText({ target, fields, body }: Case): string {
  const lines = Object.entries({ host: "127.0.0.1", ...fields })
    .map(([name, value]) => `${name}: ${value}`);
  return body === null
    ? rawRequest(`GET ${target}`, lines)
    : rawRequest(`POST ${target}`, lines, body);
}
