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
  /** How many times as fast as the peer ours should be at least, by the name of a case. */
  readonly targets: Readonly<Record<string, number>>;
}

const ON_SQLITE = {
  ...{ page20: 1.4, page100: 1.4, pages: 1.4 },
  ...{ pet: 1.2, pets: 1.2, create: 3.5 },
};
const ON_SQLITE_BUN = {
  ...{ page20: 1.1, page100: 1.1, pages: 1.1 },
  ...{ pet: 1.1, pets: 1.1, create: 2.5 },
};
const ON_POSTGRESQL = { page20: 3, pages: 1.3, pets: 2.5, create: 2.5 };
const ON_POSTGRESQL_DENO = { page20: 2.3, pages: 1.3, pets: 2.2, create: 2.2 };

/** All settings. */
export const SETTINGS: readonly Setting[] = [
  setting("sqlite", "deno", "Hono, node:sqlite", ON_SQLITE),
  setting("sqlite", "bun", "Hono, bun:sqlite", ON_SQLITE_BUN),
  setting("sqlite", "node", "Fastify, node:sqlite", ON_SQLITE),
  setting("postgresql", "deno", "Hono, postgres.js", ON_POSTGRESQL_DENO),
  setting("postgresql", "bun", "Hono, postgres.js", ON_POSTGRESQL),
  setting("postgresql", "node", "Fastify, pg", ON_POSTGRESQL),
];

function setting(
  database: DatabaseName,
  runtime: RuntimeName,
  name: string,
  targets: Setting["targets"],
): Setting {
  const [framework = "", driver = ""] = name.split(", ");
  const program = `contestants/${framework.toLowerCase()}.ts`;
  const STORE = driver.replace(/.*:/, "").replace(".", "_");
  const file = new URL(program, import.meta.url);
  const peer = {
    name,
    file,
    args: [],
    tables: "peer",
    env: { STORE },
  } as const;
  return { database, runtime, peer, targets };
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
