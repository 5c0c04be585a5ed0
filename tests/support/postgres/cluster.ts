/** A PostgreSQL server for a single test, which the test may kill, with or without TLS. */

import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../process.ts";
import { requireBinaries } from "./binaries.ts";
import {
  daemon,
  guardedFolder,
  isAlive,
  pauseTree,
  runAsServer,
  serverAccount,
  signal,
} from "./processes.ts";
import { createDatabase, type Row, runSql } from "./sql.ts";
import { until } from "../time.ts";

/** Settings of a server whose databases no test looks at after a crash. */
export const FAST: Readonly<Record<string, string>> = {
  fsync: "off",
  full_page_writes: "off",
};

/** Settings of {@linkcode startCluster}. */
export interface ClusterOptions {
  /** Lines of `postgresql.conf`. Without any, it is as durable as PostgreSQL is by default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** On 127.0.0.1. Default: a free one. */
  readonly port?: number;
  /** The password of `postgres`, its superuser (SCRAM-SHA-256). Default: everybody is trusted. */
  readonly password?: string;
  /**
   * Fills the data directory, which does not exist yet, in the server's account. Default: `initdb`.
   */
  readonly fill?: (data: string) => Promise<void>;
}

/** A server, running or not, and its databases. It ends with this process at the latest. */
export interface Cluster {
  readonly port: number;
  /** The folder of its files, which tests may use too; {@linkcode Cluster.close} removes it. */
  readonly folder: string;
  /** The `postgres://` URL of a database, for `postgres`. */
  url(database: string): string;
  /** The URL of a new and empty database, in UTF-8. */
  newDatabase(): Promise<string>;
  /** Runs SQL as `postgres` in the database `postgres`, on a connection of its own. */
  query(sql: string): Promise<readonly Row[]>;
  /** Process ids of the clients' backends. */
  backends(): Promise<readonly number[]>;
  /** Restarts it at the same address. Resolves once it accepts connections. */
  start(): Promise<void>;
  /** Ends the clients' transactions, and writes a checkpoint. Resolves once it has exited. */
  stop(): Promise<void>;
  /** Ends all its processes with SIGKILL at once. What the kernel already has stays. */
  kill(): Promise<void>;
  /** Stops all its processes (SIGSTOP): connections stay open, and nothing is answered. */
  pause(): Promise<void>;
  /** Ends {@linkcode Cluster.pause}. */
  resume(): void;
  /** Its whole log. */
  log(): string;
  /** Ends it at once, paused or not, and removes everything it made. */
  close(): Promise<void>;
}

/** Starts a server, in about a second; rejects if there are no programs. */
export async function startCluster(
  options: ClusterOptions = {},
): Promise<Cluster> {
  const binaries = await requireBinaries();
  const { password, settings = {}, fill = initdb } = options;
  const { path: folder, remove } = guardedFolder();
  const data = join(folder, "data");
  const port = options.port ?? await freePort();
  let paused: readonly number[] = [];
  const server = daemon(
    folder,
    [join(binaries, "postgres"), "-D", data, "-p", `${port}`],
    () => query("select 1").then(() => true, () => false),
  );

  async function initdb(): Promise<void> {
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, password ?? "");
    serverAccount().give(passwordFile);
    const options =
      "--no-sync --encoding=UTF8 --locale=C --username=postgres --auth="
        .concat(password === undefined ? "trust" : "scram-sha-256");
    await runAsServer([
      join(binaries, "initdb"),
      ...options.split(" "),
      ...password === undefined ? [] : [`--pwfile=${passwordFile}`],
      `--pgdata=${data}`,
    ]);
  }

  function resume(): void {
    paused.forEach((pid) => signal(pid, "SIGCONT"));
    paused = [];
  }

  const login = password === undefined
    ? "postgres"
    : `postgres:${encodeURIComponent(password)}`;
  const url = (database: string) =>
    `postgres://${login}@127.0.0.1:${port}/${database}`;
  const query = (sql: string) => runSql(url("postgres"), sql);

  try {
    await fill(data);
    configure(data, settings);
    await server.start();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    port,
    folder,
    url,
    newDatabase: () => createDatabase(url("postgres")),
    query,
    async backends() {
      const rows = await query(
        `select pid from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      return rows.map(({ pid }) => Number(pid));
    },
    start: server.start,
    async stop() {
      resume();
      signal(server.pid, "SIGINT");
      await until("PostgreSQL has stopped", () => !isAlive(server.pid));
    },
    async kill() {
      await server.kill();
      // The next one refuses to start as long as the kernel still knows this dead one.
      await until("it is forgotten", () => !existsSync(`/proc/${server.pid}`));
      paused = [];
    },
    async pause() {
      paused = await pauseTree(server.pid);
    },
    resume,
    log: server.log,
    close: remove,
  };
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

/**
 * Changes a setting of a running server. Resolves once all its processes have read it: it is told
 * to, and reads it some time later.
 */
export async function changeSetting(
  cluster: Cluster,
  name: string,
  value: string,
): Promise<void> {
  // In two texts: ALTER SYSTEM refuses to run in a transaction.
  await cluster.query(`alter system set ${name} = '${value}'`);
  await cluster.query("select pg_reload_conf()");
  await until(`${name} is set`, async () => {
    const [row] = await cluster.query(`show ${name}`);
    return row?.[name] === value;
  });
  // Whether commits wait for standbys is for the process that writes checkpoints to note. It reads
  // its settings before it begins one (PostgreSQL's src/backend/postmaster/checkpointer.c).
  await cluster.query("checkpoint");
}
