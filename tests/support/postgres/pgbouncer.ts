/** PgBouncer in front of a server, as hosts of PostgreSQL put it there. */

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../ports.ts";
import type { Cluster } from "./cluster.ts";
import {
  guardedFolder,
  isAlive,
  serverAccount,
  signal,
  startDaemon,
} from "./processes.ts";
import { runSql } from "./sql.ts";
import { until } from "../time.ts";

/** A running PgBouncer. It ends with this process, if not before. */
export interface PgBouncer {
  /** The `postgres://` URL of a database of the server behind. */
  url(database: string): string;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again where it was; fulfilled once it takes connections. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const PROGRAM = ["/usr/sbin", "/usr/bin", "/usr/local/bin"]
  .map((folder) => join(folder, "pgbouncer")).find(existsSync);

/** `false`, or why there can be none. */
export const missingPgBouncer: string | false = PROGRAM === undefined &&
  "PgBouncer is not installed here";

/**
 * Starts PgBouncer in transaction mode: a connection of the server is a client's for one transaction.
 *
 * @param settings lines of its configuration, such as `default_pool_size`.
 */
export async function startPgBouncer(
  cluster: Cluster,
  settings: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  if (PROGRAM === undefined) throw new Error(String(missingPgBouncer));
  const { path: folder, remove } = guardedFolder("pgbouncer.pid", "TERM");
  serverAccount().give(folder);
  const port = await freePort();
  const configuration = join(folder, "pgbouncer.ini");
  const { username, password } = new URL(cluster.url("postgres"));
  const lines = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    pidfile: join(folder, "pgbouncer.pid"),
    // Whatever name a client gives, the server sees the one below.
    auth_type: "any",
    pool_mode: "transaction",
    ...settings,
  };
  writeFileSync(
    configuration,
    [
      "[databases]",
      `* = host=127.0.0.1 port=${cluster.port} user=${username}` +
      (password === "" ? "" : ` password=${decodeURIComponent(password)}`),
      "[pgbouncer]",
      ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
    ].join("\n"),
  );
  serverAccount().give(configuration);

  const log = join(folder, "log");
  let pid = 0;
  const url = (database: string): string =>
    `postgres://${username}@127.0.0.1:${port}/${database}`;

  async function start(): Promise<void> {
    pid = startDaemon([PROGRAM ?? "", configuration], log);
    await until("PgBouncer is ready", () => {
      if (!isAlive(pid)) {
        throw new Error(`PgBouncer does not start:\n${readFileSync(log)}`);
      }
      // Its own database, of statistics: asking there takes no connection of the server.
      return runSql(url("pgbouncer"), "show version").then(
        () => true,
        () => false,
      );
    });
  }

  async function kill(): Promise<void> {
    signal(pid, "SIGKILL");
    await until("PgBouncer is gone", () => !isAlive(pid));
    rmSync(join(folder, "pgbouncer.pid"), { force: true });
  }

  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return { url, kill, start, close: remove };
}
