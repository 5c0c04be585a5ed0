/** Tests on their own PostgreSQL server, with a standby or a copy of it, or with PgBouncer. */

import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { atEnd } from "../at_end.ts";
import { findProgram, freePort } from "../process.ts";
import { skipping } from "../runtime.ts";
import { until } from "../time.ts";
import { findBinaries } from "./binaries.ts";
import {
  changeSetting,
  type Cluster,
  type ClusterOptions,
  startCluster,
} from "./cluster.ts";
import {
  type Daemon,
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

/**
 * Makes a function that registers tests, or skips them for a reason. Each has its own server, and may
 * leave it paused.
 */
export function onCluster(
  { skip = false, ...options }: ClusterOptions & {
    readonly skip?: string | false;
  } = {},
): (
  title: string,
  check: (
    given: { readonly t: TestContext; readonly cluster: Cluster },
  ) => Promise<void>,
) => void {
  const all = { skip: NO_CLUSTER || skip, timeout: 150_000 };
  return (title, check) =>
    void test(title, all, async (t) => {
      const cluster = await startCluster(options);
      atEnd(t, cluster.close);
      await check({ t, cluster });
    });
}

// ---- Standbys ----

/** A server that only answers reads until it is promoted. */
export interface Standby extends Cluster {
  /** Makes it accept writes. Resolves once it does. */
  promote(): Promise<void>;
}

/**
 * Starts a standby with a server's current data; the server is stopped and started again. Without
 * `primary_conninfo` in its settings it gets no later changes.
 */
export async function startCopy(
  primary: Cluster,
  settings: ClusterOptions["settings"] = {},
): Promise<Standby> {
  const copy = await startCluster({
    settings,
    async fill(data) {
      await primary.stop();
      await runAsServer(["cp", "-a", join(primary.folder, "data"), data]);
      await runAsServer(["touch", join(data, "standby.signal")]);
      await primary.start();
    },
  });
  return Object.assign(copy, {
    async promote() {
      // It may have been copied from a server that waited for another standby.
      await forgetStandby(copy);
      await copy.query("select pg_promote()");
    },
  });
}

/**
 * Starts a standby. Resolves once it streams, and the primary answers `commit` only when this
 * standby has it on disk.
 */
export async function startStandby(primary: Cluster): Promise<Standby> {
  const name = `standby_${randomUUID().replaceAll("-", "_")}`;
  // Otherwise a checkpoint, as after each change of a setting, removes what standbys still need.
  await changeSetting(primary, "wal_keep_size", "256MB");
  const standby = await startCopy(primary, {
    primary_conninfo: `${primary.url("postgres")}?application_name=${name}`,
  });
  await changeSetting(primary, "synchronous_standby_names", name);
  await until("the standby streams", async () => {
    const rows = await primary.query(
      `select from pg_stat_replication where application_name = '${name}'
        and state = 'streaming' and sync_state = 'sync'`,
    );
    return rows.length > 0;
  });
  return standby;
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
export interface PgBouncer extends Pick<Daemon, "start" | "kill"> {
  /** The `postgres://` URL of a database of the server behind. */
  readonly url: (database: string) => string;
  readonly close: () => Promise<void>;
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
  const { path: folder, remove } = guardedFolder();
  const port = await freePort();
  const configuration = join(folder, "pgbouncer.ini");
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
      `* = host=127.0.0.1 port=${cluster.port} user=postgres`,
      "[pgbouncer]",
      ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
    ].join("\n"),
  );
  serverAccount().give(configuration);

  const url = (database: string): string =>
    `postgres://postgres@127.0.0.1:${port}/${database}`;
  const { start, kill } = daemon(
    folder,
    [PROGRAM, configuration],
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
