/**
 * The servers that take part: programs in `tests/bench/contestants`, and the runtimes each runs on.
 *
 * @module
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type BenchOptions, choose } from "../options.ts";
import { type RuntimeName, RUNTIMES } from "../runtimes.ts";
import { KEY } from "./cases.ts";

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  /** `fields`: a framework that adds the header fields of ours. */
  readonly kind: "floor" | "ours" | "standalone" | "framework" | "fields";
  readonly file: URL;
  readonly runtimes: readonly RuntimeName[];
  /** How the program is told its port, if not by `PORT`. */
  readonly args?: (port: number) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The environment that every contestant is started in, beside its own. */
export const ENVIRONMENT = { NODE_ENV: "production", PETSTORE_API_KEYS: KEY };

/** A program of the bench; its file has the contestant's name unless told otherwise. */
export function contestant(
  name: string,
  kind: Contestant["kind"],
  { program = name, ...more }: Partial<Contestant> & { program?: string } = {},
): Contestant {
  const file = new URL(`../contestants/${program}.ts`, import.meta.url);
  return { name, kind, file, runtimes: RUNTIMES, ...more };
}

/** What a server with the answers of ours must do at least. */
export const floor: Contestant = contestant("floor", "floor");

/** Ours, which runs even if it is not measured: the others must answer as it does. */
export const ours: Contestant = contestant("ours", "ours");

/** Ours as the program that `deno task start` runs. */
export function standalone(
  name: string,
  env: Readonly<Record<string, string>>,
): Contestant {
  const main = "../../../adapters/standalone/main";
  const args = (port: number) => ["start", "--port", String(port)];
  return contestant(name, "standalone", { program: main, args, env });
}

function framework(
  program: string,
  runtimes: readonly RuntimeName[] = RUNTIMES,
): readonly Contestant[] {
  return [
    contestant(program, "framework", { runtimes }),
    contestant(`${program} + fields`, "fields", { program, runtimes }),
  ];
}

const memory = { DATABASE_URL: "memory:" };
const CONTESTANTS: readonly Contestant[] = [
  floor,
  ours,
  standalone("standalone", { ...memory, REQUEST_LOG: "off" }),
  standalone("standalone with log", { ...memory, REQUEST_LOG: "on" }),
  ...framework("hono"),
  ...framework("h3"),
  ...framework("elysia", ["bun"]),
  ...framework("fastify", ["node"]),
  ...framework("express", ["node"]),
];

/** The contestants that were asked for, or all. */
export function chooseContestants(
  { contestants, programs }: BenchOptions,
): readonly Contestant[] {
  const names = CONTESTANTS.map(({ name }) => name);
  const chosen = choose(names, contestants, "contestant");
  const given = programs.map((text) => {
    const [name = "", path = ""] = text.split("=");
    return { ...ours, name, file: pathToFileURL(resolve(path)) };
  });
  return [...CONTESTANTS.filter(({ name }) => chosen.includes(name)), ...given];
}
