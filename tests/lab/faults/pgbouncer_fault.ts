/**
 * The contracts on PostgreSQL behind PgBouncer in transaction mode, and what happens without
 * `pgbouncer=true`.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type PetDatabase,
  postgresStorage,
} from "../../../adapters/storage/postgres/mod.ts";
import { storageContract } from "../../contract/storage/mod.ts";
import { atEnd } from "../../support/at_end.ts";
import { FAST, startCluster } from "../../support/postgres/cluster.ts";
import {
  missingPgBouncer,
  NO_CLUSTER,
  onCluster,
  startPgBouncer,
} from "../../support/postgres/test_cluster.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { skipping } from "../../support/runtime.ts";
import { REX } from "../../support/pets.ts";

const skip = NO_CLUSTER || skipping(missingPgBouncer);

/** Clients have many connections, and share three of the server. */
const SETTINGS = { default_pool_size: "3", max_client_conn: "500" };

let started: ReturnType<typeof start> | undefined;
after(async () => {
  const { cluster, pgbouncer } = await started ?? {};
  await pgbouncer?.close();
  await cluster?.close();
});

async function start() {
  const cluster = await startCluster({ settings: FAST });
  const pgbouncer = await startPgBouncer(cluster, SETTINGS);
  return { cluster, pgbouncer };
}

/** An empty place for each clause, in one database: PostgreSQL takes long to make a new one. */
async function newPlace(): Promise<() => Promise<PetDatabase>> {
  const { pgbouncer } = await (started ??= start());
  const url = pgbouncer.url("postgres");
  await runSql(url, "drop schema public cascade; create schema public");
  return () => postgresStorage(`${url}?pgbouncer=true`);
}

storageContract({
  it: (title, check, timeout) =>
    test(
      `postgresStorage behind PgBouncer: ${title}`,
      { skip, timeout },
      check,
    ),
  open: async () => await (await newPlace())(),
  newPlace,
});

onCluster({ skip })(
  "prepared statements that fail behind PgBouncer say which setting is missing",
  async ({ t, cluster }) => {
    const pgbouncer = await startPgBouncer(cluster, {
      ...SETTINGS,
      ignore_startup_parameters: "lock_timeout,options,statement_timeout",
    });
    atEnd(t, () => pgbouncer.close());
    const url = pgbouncer.url("postgres");
    const open = async (address: string) => {
      const storage = await postgresStorage(address);
      atEnd(t, () => storage.close());
      return storage;
    };
    await open(`${url}?pgbouncer=true`);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, async () => {
        const storage = await open(url);
        const use = async () => storage.get((await storage.create(REX)).id);
        await Promise.all(Array.from({ length: 100 }, use));
      }),
    );
    const reasons = outcomes.map((outcome) =>
      outcome.status === "rejected" ? String(outcome.reason) : "none"
    );
    // On a busy machine another one may time out.
    assert.match(
      reasons.join("\n"),
      /add pgbouncer=true .*prepared statement "petstore /,
    );
  },
);
