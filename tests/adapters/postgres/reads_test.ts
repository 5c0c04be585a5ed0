import assert from "node:assert/strict";
import { Client } from "pg";
import type { PetDatabase } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { REX } from "../../support/pets.ts";
import { until } from "../../support/time.ts";

const shared = await sharedPostgres();

function it(
  what: string,
  check: (storage: PetDatabase, url: string) => Promise<void>,
): void {
  shared.it(`postgresStorage ${what}`, async (t) => {
    const { url, open } = await shared.database(t);
    const patience = { connectTimeout: 20_000, queryTimeout: 20_000 };
    await check(await open(url, patience), url);
  });
}

async function addPets(storage: PetDatabase, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => storage.create(REX)));
}

it("answers gets, and look-ups of keys, that share a statement, each for itself", async (storage) => {
  await addPets(storage, 50);
  const { apiKeys } = storage;
  const created = new Date(0);
  for (const digest of ["1", "2", "3"]) {
    await apiKeys.insert({ name: "Ann", digest, created });
  }
  await apiKeys.revoke(2, created);
  // The first of a kind goes alone.
  for (const count of [1, 4, 60]) {
    const ids = Array.from({ length: count }, (_, i) => BigInt(i % 55 + 1));
    const pets = await Promise.all(ids.map((id) => storage.get(petId(id))));
    const expected = ids.map((id) => id > 50n ? undefined : id);
    assert.deepEqual(pets.map((pet) => pet?.id), expected);
    const digests = ids.map((id) => `${id % 5n}`);
    const isActive = await Promise.all(digests.map(apiKeys.isActive));
    assert.deepEqual(isActive, digests.map((digest) => "13".includes(digest)));
  }
});

it("sends reads on other connections while some hang", async (storage, url) => {
  await addPets(storage, 1);
  await Promise.all(Array.from({ length: 10 }, () => storage.ping()));
  const reads: Promise<unknown>[] = [];
  const locker = new Client({ connectionString: url });
  await locker.connect();
  try {
    await locker.query("begin; lock table pets");
    // Those that come once the first has hung for a while have a statement of their own.
    await until("two statements of each kind hang", async () => {
      for (const read of [storage.get(petId(1n)), storage.list({ limit: 1 })]) {
        reads.push(read.catch(() => {})); // it may wait too long
      }
      const rows = await runSql(
        url,
        `select query like '%id = %' as is_get from pg_stat_activity
          where wait_event = 'relation' and datname = current_database()`,
      );
      const gets = rows.filter((row) => row.is_get).length;
      return gets > 1 && rows.length - gets > 1;
    });
    await locker.query("commit");
    await Promise.all(reads);
  } finally {
    await locker.end();
  }
});
