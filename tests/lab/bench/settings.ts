/**
 * Where the service is measured, and against which peer: a database and a runtime, with the
 * framework and the driver that its users know best.
 */

import type { Runtime } from "../../support/runtime.ts";
import type { DatabaseName, Tables } from "./databases.ts";
import type { Installed } from "./install.ts";

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
  /** How many of it share its database. Default: 1. */
  readonly servers?: number;
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
  readonly runtime: Runtime["name"];
  /** `Hono, node:sqlite`. */
  readonly peerName: string;
}

/** All settings. */
export const SETTINGS: readonly Setting[] = [
  { database: "sqlite", runtime: "deno", peerName: "Hono, node:sqlite" },
  { database: "sqlite", runtime: "bun", peerName: "Hono, bun:sqlite" },
  { database: "sqlite", runtime: "node", peerName: "Fastify, node:sqlite" },
  { database: "postgresql", runtime: "deno", peerName: "Hono, postgres.js" },
  { database: "postgresql", runtime: "bun", peerName: "Hono, postgres.js" },
  { database: "postgresql", runtime: "node", peerName: "Fastify, pg" },
];

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
