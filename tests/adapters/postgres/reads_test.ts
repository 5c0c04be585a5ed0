import assert from "node:assert/strict";
import { Client } from "pg";
import type { PetDatabase } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import type { PetQuery } from "../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../../support/new_pet.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { until } from "../../support/postgres/until.ts";

const shared = await sharedPostgres();

function it(
  what: string,
  check: (storage: PetDatabase, url: string) => Promise<void>,
): void {
  shared.it(what, async ({ url, open }) => {
    const patience = { connectTimeout: 20_000, queryTimeout: 20_000 };
    await check(await open(url, patience), url);
  });
}

const STATUSES = ["available", "pending", "sold"] as const;

async function addPets(storage: PetDatabase, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => {
    const status = STATUSES[i % 2] ?? "sold";
    return storage.create(newPet({ ...REX, name: `Rex ${i}`, status }));
  }));
}

it("answers pages that share a statement as it answers each alone", async (storage) => {
  await addPets(storage, 300);
  const queries = [1, 20, 100, 101, 1000].flatMap((limit) =>
    [undefined, ...STATUSES].flatMap((status) =>
      [undefined, 0n, 7n, 290n, 300n, -(2n ** 63n), 2n ** 63n - 1n].map(
        (after): PetQuery => ({
          limit,
          ...status && { status },
          ...after !== undefined && { after },
        }),
      )
    )
  );
  const together = await Promise.all(
    queries.map((query) => storage.list(query)),
  );
  for (const [index, query] of queries.entries()) {
    assert.deepEqual(together[index], await storage.list(query));
  }
  // Callers who ask alike share them.
  assert.ok(together.every(({ pets }) => pets.every(Object.isFrozen)));
});

it("fails only reads of a row that cannot be read", async (storage, url) => {
  await addPets(storage, 10);
  await runSql(
    url,
    `alter table pets drop constraint pets_status_check;
      update pets set status = 7 where id = 5`,
  );
  const gets = Array.from({ length: 10 }, (_, i) => petId(BigInt(i + 1)));
  const reads = [
    ...gets.map((id) => storage.get(id)),
    ...gets.map((id) => storage.list({ limit: 2, after: id })),
  ];
  const outcomes = await Promise.allSettled(reads);
  const failed = outcomes.flatMap(({ status }, index) =>
    status === "rejected" ? [index] : []
  );
  // A page reads one pet more than it holds.
  assert.deepEqual(failed, [4, 11, 12, 13]);
});

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

it("lets all reads end that were accepted before close(), and then refuses more", async (storage) => {
  const { get, list, apiKeys: { isActive } } = storage;
  // More than one group of each, so that some wait.
  const reads = Array.from({ length: 2000 }, (_, i) => [
    get(petId(BigInt(i + 1))),
    isActive(`${i}`),
    ...i < 40 ? [list({ limit: 100, after: BigInt(i) })] : [],
  ]);
  await Promise.all([...reads.flat(), storage.close()]);
  for (
    const read of [
      () => get(petId(1n)),
      () => list({ limit: 1 }),
      () => isActive("1"),
      () => storage.ping(),
    ]
  ) {
    const message = "The storage is closed";
    await assert.rejects(read(), { kind: "unavailable", message });
  }
});
