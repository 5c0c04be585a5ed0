/**
 * The servers that take part: programs in `tests/bench/contestants`, and the runtimes each runs on.
 *
 * @module
 */

import process from "node:process";
import { type BenchOptions, choose } from "../options.ts";
import { type RuntimeName, RUNTIMES } from "../runtimes.ts";
import { KEY } from "./cases.ts";

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  readonly file: URL;
  readonly runtimes: readonly RuntimeName[];
  readonly kind:
    | "floor" // answers with a constant text
    | "ours"
    | "standalone"
    | "framework" // as it is
    | "fields"; // a framework that adds the header fields of ours
  /** How the program is told its port, if not by `PORT`. */
  readonly args?: (port: number) => readonly string[];
  /** Environment variables of its own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What a server has at least to do. */
export const FLOOR = "floor";
/** What everything is compared with. */
export const OURS = "ours";

/** Ours, which runs even if it is not measured: the others must answer as it does. */
export const ours: Contestant = contestant(OURS, "ours");

const CONTESTANTS: readonly Contestant[] = [
  contestant(FLOOR, "floor"),
  ours,
  standalone("memory:", "off"),
  standalone("memory:", "on"),
  ...framework("hono", RUNTIMES),
  ...framework("h3", RUNTIMES),
  ...framework("elysia", ["bun"]),
  ...framework("fastify", ["node"]),
  ...framework("express", ["node"]),
];

/** A program of the bench; its file has the contestant's name unless told otherwise. */
export function contestant(
  name: string,
  kind: Contestant["kind"],
  { program = name, ...more }: Partial<Contestant> & { program?: string } = {},
): Contestant {
  const file = new URL(`../contestants/${program}.ts`, import.meta.url);
  return { name, kind, file, runtimes: RUNTIMES, ...more };
}

/** Ours as the program that `deno task start` runs. */
export function standalone(
  DATABASE_URL: string,
  REQUEST_LOG: "on" | "off",
): Contestant {
  return {
    ...ours,
    name: REQUEST_LOG === "on" ? "standalone with log" : "standalone",
    kind: "standalone",
    file: new URL("../../../adapters/standalone/main.ts", import.meta.url),
    args: (port) => ["start", "--port", String(port)],
    env: { DATABASE_URL, REQUEST_LOG },
  };
}

function framework(
  name: string,
  runtimes: readonly RuntimeName[],
): readonly Contestant[] {
  return [
    contestant(name, "framework", { runtimes }),
    contestant(`${name} + fields`, "fields", { program: name, runtimes }),
  ];
}

/** The environment that every contestant is started in, beside its own. */
export const COMMON_ENVIRONMENT = {
  NODE_ENV: "production",
  PETSTORE_API_KEYS: KEY,
};

/** The contestants that were asked for, or all. */
export function chooseContestants(
  { contestants: names, programs }: BenchOptions,
): Contestant[] {
  const given = Object.entries(programs).map(([name, path]): Contestant => ({
    ...ours,
    name,
    file: new URL(path, `file://${process.cwd()}/`),
  }));
  const known = CONTESTANTS.map(({ name }) => name);
  names?.forEach((name) => choose(name, known, "contestant"));
  const chosen = CONTESTANTS.filter(({ name }) =>
    names?.includes(name) ?? true
  );
  const at = chosen.findIndex(({ name }) => name === OURS) + 1;
  return chosen.toSpliced(at, 0, ...given);
}
