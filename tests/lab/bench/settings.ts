/**
 * Where the service is measured, and against which peer: a database and a runtime, with the
 * framework and the driver that its users know best.
 */

import type { DatabaseName, Tables } from "./databases.ts";
import type { Installed } from "./install.ts";
import type { RuntimeName } from "./runtimes.ts";

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  readonly file: URL;
  /** The program that runs `file`, and tells what it takes. */
  readonly meter: URL;
  /** The arguments of the program. Its port and its database are in the environment. */
  readonly args: readonly string[];
  readonly tables: Tables;
  /** `STORE`: the driver of a peer. */
  readonly env: Readonly<Record<string, string>>;
  /** Only the first of {@linkcode LOADS}, because it runs the same code as another one. */
  readonly isBrief?: boolean;
}

/** A number of connections; at its own pace each sends as soon as it is answered. */
export interface Load {
  readonly connections: number;
  /** At half the rate that the peer has with as many connections, however long an answer takes. */
  readonly isPaced: boolean;
}

/** All loads. */
export const LOADS: readonly Load[] = [
  { connections: 64, isPaced: false },
  { connections: 16, isPaced: false },
  { connections: 4, isPaced: false },
  { connections: 1, isPaced: false },
  { connections: 64, isPaced: true },
];

/** A database on a runtime. */
export interface Setting {
  readonly database: DatabaseName;
  readonly runtime: RuntimeName;
  /** `Hono, node:sqlite`. */
  readonly peerName: string;
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
  peerName: string,
  targets: Setting["targets"],
): Setting {
  return { database, runtime, peerName, targets };
}

/** The server of a peer. */
export function peer(name: string, { peer, meter }: Installed): Contestant {
  const [framework = "", driver = ""] = name.toLowerCase().split(", ");
  const STORE = driver.replace(/.*:/, "").replace(".", "_");
  const file = peer(framework);
  return { name, file, meter, args: [], tables: "peer", env: { STORE } };
}

/** The server of ours, with its log: `npx petstore start`, as the package has it. */
export function ours(
  name: string,
  checkout: URL,
  { pack, meter }: Installed,
): Contestant {
  const file = pack(checkout);
  return { name, file, meter, args: ["start"], tables: "ours", env: {} };
}

/** The server that `deno task start` runs. */
export function sources(checkout: URL): Contestant {
  return {
    name: "sources",
    file: new URL("adapters/standalone/main.ts", checkout),
    meter: new URL("contestants/metered.ts", import.meta.url),
    ...{ args: ["start"], tables: "ours", env: {}, isBrief: true },
  };
}
