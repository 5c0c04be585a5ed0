/** A PostgreSQL server of a test's own, which the test may kill. */

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../ports.ts";
import { serverAccount } from "./account.ts";
import { requireBinaries } from "./binaries.ts";
import { runWell } from "./command.ts";
import { createDatabase } from "./database.ts";
import { guardedFolder } from "./guarded_folder.ts";
import { describeServer, type Server } from "./server.ts";
import { type Row, runSql } from "./sql.ts";

/** Settings of {@linkcode startCluster}. */
export interface ClusterOptions {
  /** Lines of `postgresql.conf`. Without any, it is as durable as PostgreSQL is by default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** On 127.0.0.1. Default: one that is free. */
  readonly port?: number;
  /** What `postgres`, its superuser, has to give (SCRAM-SHA-256). Default: everybody is trusted. */
  readonly password?: string;
  /** Fills the data directory, which does not exist yet, in the server's account. Default: `initdb`. */
  readonly fill?: (data: string) => Promise<void>;
}

/** A server and its databases. It ends with this process, if not before. */
export interface Cluster extends Server {
  readonly port: number;
  /** Its files, and what a test wants to lie beside them; gone after {@linkcode Cluster.close}. */
  readonly folder: string;
  /** The `postgres://` URL of a database, for `postgres` or, without a password, for another user. */
  url(database: string, user?: string): string;
  /** The URL of a new and empty database, in UTF-8. */
  newDatabase(): Promise<string>;
  /** Runs SQL as `postgres` in the database `postgres`, on a connection of its own; `values` are $1, …. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Process ids of the clients' backends; with a text, of those amid a statement or transaction of it. */
  backends(running?: string): Promise<readonly number[]>;
  /** Ends it at once, and removes all that it made. */
  close(): Promise<void>;
}

/** Starts a server, in about a second; rejects where there are no programs. */
export async function startCluster(
  options: ClusterOptions = {},
): Promise<Cluster> {
  const binaries = await requireBinaries();
  const { password, settings = {}, fill = initdb } = options;
  const { path: folder, remove } = guardedFolder("data/postmaster.pid", "QUIT");
  serverAccount().give(folder);
  const data = join(folder, "data");

  try {
    await fill(data);
    configure(data, settings);
    const port = options.port ?? await freePort();
    const log = join(folder, "log");
    const server = describeServer({ binaries, data, port, log });
    await server.start();
    return describe(server, port);
  } catch (error) {
    await remove();
    throw error;
  }

  async function initdb(): Promise<void> {
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, password ?? "");
    serverAccount().give(passwordFile);
    await runWell([
      ...[...serverAccount().prefix, join(binaries, "initdb")],
      ...["--no-sync", "--encoding=UTF8", "--locale=C", "--username=postgres"],
      ...(password === undefined
        ? ["--auth=trust"]
        : ["--auth=scram-sha-256", `--pwfile=${passwordFile}`]),
      `--pgdata=${data}`,
    ]);
  }

  function describe(server: Server, port: number): Cluster {
    function url(database: string, user = "postgres"): string {
      const login = password === undefined || user !== "postgres"
        ? user
        : `${user}:${encodeURIComponent(password)}`;
      return `postgres://${login}@127.0.0.1:${port}/${database}`;
    }

    const query: Cluster["query"] = (sql, values) =>
      runSql(url("postgres"), sql, values);

    async function backends(running?: string): Promise<readonly number[]> {
      const rows = await query(
        `select pid from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()
            and ($1::text is null or state <> 'idle' and position($1 in query) > 0)`,
        [running],
      );
      return rows.map(({ pid }) => Number(pid));
    }

    return {
      ...server,
      port,
      folder,
      url,
      newDatabase: () => createDatabase(url("postgres")),
      query,
      backends,
      close: remove,
    };
  }
}

function configure(
  data: string,
  settings: Readonly<Record<string, string>>,
): void {
  const lines = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    // In its own folder rather than in /dev/shm, where a SIGKILL would leave it.
    dynamic_shared_memory_type: "mmap",
    max_connections: "100",
    ...settings,
  }).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  appendFileSync(join(data, "postgresql.conf"), `\n${lines.join("\n")}\n`);
}
