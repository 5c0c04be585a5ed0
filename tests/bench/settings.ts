/**
 * Where the service is measured, and beside which peer: a database and a runtime, with the framework and
 * the driver that its users know best.
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { DatabaseName, Tables } from "./databases.ts";
import type { RuntimeName } from "./runtimes.ts";

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  readonly file: URL;
  /** The arguments of the program. Its port and its database are in the environment. */
  readonly args: readonly string[];
  readonly tables: Tables;
  /** `STORE`: the driver of a peer. */
  readonly env: Readonly<Record<string, string>>;
}

/** A database on a runtime. */
export interface Setting {
  readonly database: DatabaseName;
  readonly runtime: RuntimeName;
  readonly peer: Contestant;
}

/** All settings. */
export const SETTINGS: readonly Setting[] = [
  setting("sqlite", "deno", "Hono", "node:sqlite"),
  setting("sqlite", "bun", "Hono", "bun:sqlite"),
  setting("sqlite", "node", "Fastify", "node:sqlite"),
  setting("postgresql", "deno", "Hono", "postgres.js"),
  setting("postgresql", "bun", "Hono", "postgres.js"),
  setting("postgresql", "node", "Fastify", "pg"),
];

function setting(
  database: DatabaseName,
  runtime: RuntimeName,
  framework: string,
  driver: string,
): Setting {
  const program = `contestants/${framework.toLowerCase()}.ts`;
  const STORE = driver.replace(/.*:/, "").replace(".", "_");
  const file = new URL(program, import.meta.url);
  const name = `${framework}, ${driver}`;
  const peer = {
    name,
    file,
    args: [],
    tables: "peer",
    env: { STORE },
  } as const;
  return { database, runtime, peer };
}

/** The server that `deno task start` runs, from a checkout of this project; with its log. */
export function ours(name: string, checkout: URL): Contestant {
  const file = new URL("adapters/standalone/main.ts", checkout);
  return { name, file, args: ["start"], tables: "ours", env: {} };
}

/** A folder, as the address of a checkout. */
export function toCheckout(path: string): URL {
  return pathToFileURL(`${resolve(path)}/`);
}
