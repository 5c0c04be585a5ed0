/**
 * The servers that take part: programs in `tests/bench/contestants`, and the runtimes each runs on.
 *
 * @module
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type BenchOptions, choose } from "../options.ts";
import { type RuntimeName, RUNTIMES } from "../runtimes.ts";
import { DURABLE, KEY } from "./cases.ts";

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  /** `fields`: a framework that adds the header fields of ours. */
  readonly kind: "floor" | "ours" | "standalone" | "framework" | "fields";
  readonly file: URL;
  readonly runtimes: readonly RuntimeName[];
  /** The arguments of the program, if it takes its port from them. */
  readonly args?: (port: number) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The environment that every contestant is started in, beside its own. */
export const ENVIRONMENT = { NODE_ENV: "production", PETSTORE_API_KEYS: KEY };

/** A program of the bench. */
export function contestant(
  name: string,
  kind: Contestant["kind"],
  program: string = name,
  more: Partial<Contestant> = {},
): Contestant {
  const file = new URL(`../contestants/${program}.ts`, import.meta.url);
  return { name, kind, file, runtimes: RUNTIMES, ...more };
}

/** What a server with the answers of ours must do at least. */
export const floor: Contestant = contestant("floor", "floor");
/** What the others are compared with. */
export const ours: Contestant = contestant("ours", "ours");

/** Ours as the program that `deno task start` runs. */
export function standalone(
  name: string,
  env: Readonly<Record<string, string>>,
): Contestant {
  const args = (port: number) => ["start", "--port", String(port)];
  const program = "../../../adapters/standalone/main";
  return contestant(name, "standalone", program, { args, env });
}

function framework(
  name: string,
  runtimes: Contestant["runtimes"] = RUNTIMES,
): Contestant[] {
  return [
    contestant(name, "framework", name, { runtimes }),
    contestant(`${name} + fields`, "fields", name, { runtimes }),
  ];
}

function onSqlite(
  program: string,
  DRIVER: string,
  runtimes: Contestant["runtimes"] = RUNTIMES,
) {
  const kind = program === "ours" ? "ours" : "framework";
  const more = { env: { DRIVER }, runtimes };
  return contestant(`${program}, ${DRIVER}`, kind, program, more);
}

const DATABASE_URL = "memory:";
const CONTESTANTS: readonly Contestant[] = [
  floor,
  ours,
  standalone("standalone", { DATABASE_URL, REQUEST_LOG: "off" }),
  standalone("standalone with log", { DATABASE_URL, REQUEST_LOG: "on" }),
  ...framework("hono"),
  ...framework("h3"),
  ...framework("elysia", ["bun"]),
  ...framework("fastify", ["node"]),
  ...framework("express", ["node"]),
];
const ON_SQLITE: readonly Contestant[] = [
  { ...ours, env: { DRIVER: "group commit" } },
  onSqlite("ours", "one transaction each"),
  onSqlite("hono", "node:sqlite"),
  onSqlite("hono", "better-sqlite3", ["node"]),
  onSqlite("fastify", "node:sqlite", ["node"]),
  onSqlite("fastify", "better-sqlite3", ["node"]),
];

/** The contestants of a case: those that were asked for, or all. Ours is always among them. */
export function chooseContestants(
  caseName: string,
  { contestants, programs, quick }: BenchOptions,
): readonly Contestant[] {
  if (caseName === DURABLE.name) return ON_SQLITE;
  const names = CONTESTANTS.map(({ name }) => name);
  const chosen = [ours.name, ...choose(names, contestants)];
  const given = programs.map((text) => {
    const [name = "", path = ""] = text.split("=");
    return { ...ours, name, file: pathToFileURL(resolve(path)) };
  });
  return CONTESTANTS.filter(({ name, kind }) =>
    // With our fields, a framework does all that it does as it is.
    chosen.includes(name) && !(quick && kind === "framework")
  ).concat(given);
}
