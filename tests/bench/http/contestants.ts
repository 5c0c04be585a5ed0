/**
 * The servers that take part: programs in `tests/bench/contestants`, and the runtimes each runs on.
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
): Contestant {
  const file = new URL(`../contestants/${program}.ts`, import.meta.url);
  return { name, kind, file, runtimes: RUNTIMES };
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
  return { ...contestant(name, "standalone", program), args, env };
}

/** A framework as it is, and with our header fields. */
function framework(name: string, ...on: readonly RuntimeName[]): Contestant[] {
  const runtimes = on.length > 0 ? on : RUNTIMES;
  const plain = { ...contestant(name, "framework"), runtimes };
  return [plain, { ...plain, name: `${name} + fields`, kind: "fields" }];
}

/** A contestant that keeps its pets in an SQLite file, in a certain way. */
function onSqlite(one: Contestant, DRIVER: string): Contestant {
  return { ...one, name: `${one.name}, ${DRIVER}`, env: { DRIVER } };
}

const DATABASE_URL = "memory:";
const frameworks = [
  ...["hono", "h3"].flatMap((name) => framework(name)),
  ...framework("elysia", "bun"),
  ...["fastify", "express"].flatMap((name) => framework(name, "node")),
];
const CONTESTANTS: readonly Contestant[] = [
  floor,
  ours,
  standalone("standalone", { DATABASE_URL, REQUEST_LOG: "off" }),
  standalone("standalone with log", { DATABASE_URL, REQUEST_LOG: "on" }),
  ...frameworks,
];
const ON_SQLITE: readonly Contestant[] = [
  { ...ours, env: { DRIVER: "group commit" } },
  onSqlite(ours, "one transaction each"),
  ...frameworks.filter(({ name }) => name === "hono" || name === "fastify")
    .flatMap((one) => [
      onSqlite(one, "node:sqlite"),
      { ...onSqlite(one, "better-sqlite3"), runtimes: ["node"] as const },
    ]),
];

/** The contestants of a case: those that were asked for, or all. Ours is always among them. */
export function chooseContestants(
  caseName: string,
  { contestants, programs, quick }: BenchOptions,
): readonly Contestant[] {
  if (caseName === DURABLE) return ON_SQLITE;
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
