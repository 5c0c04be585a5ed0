/** A second server that follows a first by streaming replication, or that is made of a copy of it. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findBinaries, requireBinaries } from "./binaries.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { serverAccount } from "./processes.ts";
import { runWell } from "../process.ts";
import { until } from "../time.ts";

/** A server that answers what changes nothing, until it is promoted. */
export interface Standby extends Cluster {
  /** Makes it a server that takes writes; fulfilled once it does. */
  promote(): Promise<void>;
}

/** `false`, or why there can be no standby: `pg_basebackup`, which the npm package lacks, makes it. */
export async function missingStandby(): Promise<string | false> {
  const binaries = await findBinaries();
  if (binaries.missing !== false) return binaries.missing;
  return !existsSync(join(binaries.folder, "pg_basebackup")) &&
    "There is no pg_basebackup; TEST_POSTGRES_BIN may name a folder that has it";
}

/** Starts a standby with what a server has now; it hears nothing of it later, and needs no `pg_basebackup`. */
export async function startCopy(primary: Cluster): Promise<Standby> {
  await primary.stop();
  const { prefix } = serverAccount();
  const copy = await startCluster({
    fill: async (data) => {
      await runWell([
        ...prefix,
        "cp",
        "-a",
        join(primary.folder, "data"),
        data,
      ]);
      await runWell([...prefix, "touch", join(data, "standby.signal")]);
    },
  });
  await primary.start();
  return promotable(copy);
}

function promotable(standby: Cluster): Standby {
  return Object.assign(standby, {
    async promote() {
      // It may have been copied from a server that waited for another standby.
      await standby.query("alter system reset synchronous_standby_names");
      await standby.query("select pg_reload_conf()");
      await standby.query("select pg_promote()");
    },
  });
}

/**
 * Starts a standby; fulfilled once it streams, and the primary answers `commit` only when the standby,
 * or another one that it has, has it on disk.
 */
export async function startStandby(primary: Cluster): Promise<Standby> {
  const binaries = await requireBinaries();
  const name = `standby_${randomUUID().replaceAll("-", "_")}`;
  // A copy asks for the same password.
  const { password } = new URL(primary.url("postgres"));
  const standby = await startCluster({
    ...(password !== "" && { password: decodeURIComponent(password) }),
    fill: async (data) => {
      await runWell([
        ...serverAccount().prefix,
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
  // In two texts: ALTER SYSTEM refuses to run in a transaction.
  await primary.query(
    `alter system set synchronous_standby_names = 'ANY 1 (${names})'`,
  );
  await primary.query("select pg_reload_conf()");
  await until("the standby streams", async () => {
    const [row] = await primary.query(
      "select state, sync_state from pg_stat_replication where application_name = $1",
      [name],
    );
    return row?.state === "streaming" && row.sync_state === "quorum";
  });
  return promotable(standby);
}
