/** The contracts in PostgreSQL behind PgBouncer in transaction mode, and what comes of forgetting that. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type PetDatabase,
  postgresStorage,
} from "../../adapters/postgres/mod.ts";
import { itOf } from "../contract/database_contract.ts";
import { storageContract } from "../contract/storage/mod.ts";
import { newPet, REX } from "../support/new_pet.ts";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import {
  missingPgBouncer,
  type PgBouncer,
  startPgBouncer,
} from "../support/postgres/pgbouncer.ts";
import { runSql } from "../support/postgres/sql.ts";
import { NO_CLUSTER } from "../support/postgres/test_cluster.ts";
import { skipping } from "../support/skipping.ts";

const skip = NO_CLUSTER || skipping(missingPgBouncer);
const options = { skip, timeout: 60_000 };

function it(title: string, check: () => Promise<void>): void {
  test(title, options, check);
}

/** The number of connections that all clients of a database share. */
const POOL_SIZE = 3;
const SETTINGS = {
  default_pool_size: String(POOL_SIZE),
  max_client_conn: "500",
};

interface Pooled {
  readonly cluster: Cluster;
  readonly pgbouncer: PgBouncer;
}

let pooled: Promise<Pooled> | undefined;
after(async () => {
  const { cluster, pgbouncer } = await pooled ?? {};
  await pgbouncer?.close();
  await cluster?.close();
});

function start(): Promise<Pooled> {
  return pooled ??= (async () => {
    const cluster = await startCluster({
      settings: { fsync: "off", full_page_writes: "off" },
    });
    return { cluster, pgbouncer: await startPgBouncer(cluster, SETTINGS) };
  })();
}

/** The URL of a new database, through a PgBouncer. */
async function newUrl(pgbouncer?: PgBouncer): Promise<string> {
  const { cluster, pgbouncer: usual } = await start();
  const { pathname } = new URL(await cluster.newDatabase());
  return (pgbouncer ?? usual).url(pathname.slice(1));
}

/** An empty place for each clause, in one database: PostgreSQL takes long to make a new one. */
async function newPlace(): Promise<() => Promise<PetDatabase>> {
  const url = await (shared ??= newUrl());
  await runSql(url, "drop schema public cascade; create schema public");
  return () => postgresStorage(`${url}?pgbouncer=true`);
}

let shared: Promise<string> | undefined;

storageContract({
  it: itOf("postgresStorage behind PgBouncer", options),
  open: async () => await (await newPlace())(),
  newPlace,
});

it("forty connections of four storages share three of the server, and lose nothing", async () => {
  const { cluster } = await start();
  const url = `${await newUrl()}?pgbouncer=true`;
  const storages = await Promise.all(
    Array.from({ length: 4 }, () => postgresStorage(url)),
  );
  try {
    const { most, isOver } = watchBackends(cluster, url);
    const pets = await Promise.all(storages.map((storage) => use(storage)));
    isOver();
    const created = pets.flat();
    assert.equal(new Set(created).size, created.length);
    const rows = await runSql(url, "select count(*)::int as count from pets");
    assert.equal(rows[0]?.count, created.length);
    const backends = await most;
    assert.ok(backends >= 1 && backends <= POOL_SIZE, `${backends}`);
  } finally {
    await Promise.all(storages.map((storage) => storage.close()));
  }
});

it("prepared statements fail if PgBouncer lends another connection, and the message says what is missing", async () => {
  const { cluster } = await start();
  const pgbouncer = await startPgBouncer(cluster, {
    ...SETTINGS,
    ignore_startup_parameters: "lock_timeout,options",
  });
  try {
    const url = await newUrl(pgbouncer);
    await (await postgresStorage(`${url}?pgbouncer=true`)).close();
    const storages = await Promise.allSettled(
      Array.from({ length: 4 }, () => postgresStorage(url)),
    );
    const faults: unknown[] = [];
    for (const outcome of storages) {
      if (outcome.status === "rejected") faults.push(outcome.reason);
      else {
        await use(outcome.value).catch((error) => faults.push(error));
        await outcome.value.close();
      }
    }
    assert.ok(faults.length > 0, "this test could not fail");
    assert.match(
      String(faults[0]),
      /add pgbouncer=true .*prepared statement "petstore /,
    );
  } finally {
    await pgbouncer.close();
  }
});

/** Creates and reads, ten at a time; returns the ids of what it created. */
async function use(storage: PetDatabase): Promise<readonly bigint[]> {
  const ids: bigint[] = [];
  await Promise.all(Array.from({ length: 10 }, async () => {
    for (let n = 0; n < 50; n++) {
      const pet = await storage.create(newPet({ ...REX, name: `Rex ${n}` }));
      assert.deepEqual(await storage.get(pet.id), pet);
      ids.push(pet.id);
    }
  }));
  return ids;
}

/** Counts the connections that the server has for a database, until it is over. */
function watchBackends(
  cluster: Cluster,
  url: string,
): { readonly most: Promise<number>; readonly isOver: () => void } {
  let goesOn = true;
  async function watch(): Promise<number> {
    let most = 0;
    while (goesOn) {
      const [row] = await cluster.query(
        "select count(*)::int as count from pg_stat_activity where datname = $1",
        [new URL(url).pathname.slice(1)],
      );
      most = Math.max(most, Number(row?.count));
    }
    return most;
  }
  return { most: watch(), isOver: () => goesOn = false };
}
