/** Tests on their own PostgreSQL server, with a standby or a copy of it, or with PgBouncer. */

import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext, type TestOptions } from "node:test";
import { atEnd } from "../at_end.ts";
import { findProgram, freePort } from "../process.ts";
import { skipping } from "../runtime.ts";
import { until } from "../time.ts";
import { findBinaries, requireBinaries } from "./binaries.ts";
import {
  changeSetting,
  type Cluster,
  type ClusterOptions,
  startCluster,
} from "./cluster.ts";
import {
  daemon,
  guardedFolder,
  runAsServer,
  serverAccount,
} from "./processes.ts";
import { runSql } from "./sql.ts";

/** Why they are skipped; `false` if they are not. */
export const NO_CLUSTER: string | false = skipping(
  (await findBinaries()).missing,
);

/** The options of such a test. */
export const ON_CLUSTER: TestOptions = { skip: NO_CLUSTER, timeout: 150_000 };

/** Makes a test from `work`, which receives a server and may leave it paused. */
export function withCluster(
  work: (cluster: Cluster, t: TestContext) => Promise<void>,
  options?: ClusterOptions,
): (t: TestContext) => Promise<void> {
  return async (t) => {
    const cluster = await startCluster(options);
    atEnd(t, cluster.close);
    await work(cluster, t);
  };
}

/** The server of a test. */
export interface OnCluster {
  readonly t: TestContext;
  readonly cluster: Cluster;
}

/** Makes a function that registers tests, each on its own server, or skips them for a reason. */
export function onCluster(
  { skip = false, ...options }: ClusterOptions & {
    readonly skip?: string | false;
  } = {},
): (title: string, check: (given: OnCluster) => Promise<void>) => void {
  const all = { ...ON_CLUSTER, skip: NO_CLUSTER || skip };
  return (title, check) =>
    void test(
      title,
      all,
      withCluster((cluster, t) => check({ t, cluster }), options),
    );
}

// ---- Standbys ----

/** A server that only answers reads until it is promoted. */
export interface Standby extends Cluster {
  /** Makes it accept writes. Resolves once it does. */
  promote(): Promise<void>;
}

/**
 * `false`, or why there can be no standby: `pg_basebackup`, which the npm package lacks, makes it.
 */
export async function missingStandby(): Promise<string | false> {
  const binaries = await findBinaries();
  if (binaries.missing !== false) return binaries.missing;
  return !existsSync(join(binaries.folder, "pg_basebackup")) &&
    "There is no pg_basebackup; TEST_POSTGRES_BIN may name a folder that has it";
}

/**
 * Starts a standby with a server's current data. It gets no later changes, and needs no
 * `pg_basebackup`.
 */
export async function startCopy(primary: Cluster): Promise<Standby> {
  await primary.stop();
  const copy = await startCluster({
    fill: async (data) => {
      await runAsServer(["cp", "-a", join(primary.folder, "data"), data]);
      await runAsServer(["touch", join(data, "standby.signal")]);
    },
  });
  await primary.start();
  return promotable(copy);
}

function promotable(standby: Cluster): Standby {
  return Object.assign(standby, {
    async promote() {
      // It may have been copied from a server that waited for another standby.
      await forgetStandby(standby);
      await standby.query("select pg_promote()");
    },
  });
}

/**
 * Starts a standby. Resolves once it streams, and the primary answers `commit` only when this
 * standby, or another one, has it on disk.
 */
export async function startStandby(primary: Cluster): Promise<Standby> {
  const binaries = await requireBinaries();
  const name = `standby_${randomUUID().replaceAll("-", "_")}`;
  // Otherwise a checkpoint, as after each change of a setting, removes what standbys still need.
  await changeSetting(primary, "wal_keep_size", "1GB");
  // A copy requires the same password.
  const { password } = new URL(primary.url("postgres"));
  const standby = await startCluster({
    ...(password !== "" && { password: decodeURIComponent(password) }),
    fill: async (data) => {
      await runAsServer([
        join(binaries, "pg_basebackup"),
        `--dbname=${primary.url("postgres")}?application_name=${name}`,
        `--pgdata=${data}`,
        "--write-recovery-conf",
        "--checkpoint=fast",
        "--no-sync",
      ]);
    },
  });
  const all = await primary.query(
    "select application_name as name from pg_stat_replication where state = 'streaming' and application_name <> $1",
    [name],
  );
  const names = [name, ...all.map(({ name }) => name)];
  await changeSetting(
    primary,
    "synchronous_standby_names",
    `ANY 1 (${names.join(", ")})`,
  );
  await until("the standby streams", async () => {
    const [row] = await primary.query(
      "select state, sync_state from pg_stat_replication where application_name = $1",
      [name],
    );
    return row?.state === "streaming" && row.sync_state === "quorum";
  });
  return promotable(standby);
}

/** Makes the commits of a server wait for a standby that does not exist. */
export function loseStandby(cluster: Cluster): Promise<void> {
  return changeSetting(cluster, "synchronous_standby_names", "gone");
}

/** Ends {@linkcode loseStandby}. */
export function forgetStandby(cluster: Cluster): Promise<void> {
  return changeSetting(cluster, "synchronous_standby_names", "");
}

// ---- PgBouncer, as hosts of PostgreSQL put it in front of a server ----

/** A running PgBouncer. It ends with this process, if not before. */
export interface PgBouncer {
  /** The `postgres://` URL of a database of the server behind. */
  url(database: string): string;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
  /** Restarts it at the same address. Resolves once it accepts connections. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const PROGRAM = findProgram("pgbouncer");

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
  const { path: folder, remove } = guardedFolder("pid", "TERM");
  const port = await freePort();
  const configuration = join(folder, "pgbouncer.ini");
  const { username, password } = new URL(cluster.url("postgres"));
  const lines = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
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

  const url = (database: string): string =>
    `postgres://${username}@127.0.0.1:${port}/${database}`;
  const { start, kill } = daemon(
    folder,
    () => [PROGRAM, configuration],
    // Its own database, for statistics: queries there use no connection of the server.
    () =>
      runSql(url("pgbouncer"), "show version").then(() => true, () => false),
  );
  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return { url, kill, start, close: remove };
}
