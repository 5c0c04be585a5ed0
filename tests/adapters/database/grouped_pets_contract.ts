/** The promises of reads in groups, for each database that has them. */

import assert from "node:assert/strict";
import type { PetDatabase } from "../../../adapters/database/pet_database.ts";
import { type Pet, petId } from "../../../core/pets/pet.ts";
import type { PageRequest } from "../../../core/pets/page.ts";
import { newPet, REX } from "../../support/pets.ts";

const STATUSES = ["available", "pending", "sold"] as const;

/**
 * Registers the tests.
 *
 * @param open opens a storage in a new database, and returns what runs SQL there.
 * @param impossible SQL that gives the pet 5 a status that there is not.
 */
export function groupedPetsContract(
  register: (title: string, check: () => Promise<void>) => unknown,
  open: () => Promise<readonly [PetDatabase, (sql: string) => unknown]>,
  impossible: string,
): void {
  function it(
    promise: string,
    check: (
      storage: PetDatabase,
      sql: (text: string) => unknown,
    ) => Promise<void>,
  ): void {
    register(promise, async () => {
      const [storage, sql] = await open();
      try {
        await check(storage, sql);
      } finally {
        await storage.close();
      }
    });
  }

  it("answers reads that arrive together as it answers each alone", async (storage) => {
    await addPets(storage, 300);
    const ids = Array.from(
      { length: 600 },
      (_, i) => petId(BigInt(i % 400 + 1)),
    );
    const queries = [1, 20, 100, 101, 1000].flatMap((limit) =>
      [undefined, ...STATUSES].flatMap((status) =>
        [undefined, 0n, 7n, 290n, 300n, -(2n ** 63n), 2n ** 63n - 1n].map(
          (after): PageRequest => ({
            limit,
            ...status && { status },
            ...after !== undefined && { after },
          }),
        )
      )
    );
    const [pets, pages] = await Promise.all([
      Promise.all(ids.map(storage.get)),
      Promise.all(queries.map(storage.list)),
    ]);
    for (const [index, id] of ids.slice(0, 400).entries()) {
      assert.deepEqual(pets[index], await storage.get(id));
    }
    assert.deepEqual(pets.slice(400), pets.slice(0, 200));
    for (const [index, query] of queries.entries()) {
      assert.deepEqual(pages[index], await storage.list(query));
    }
    // Callers who ask alike share them.
    assert.ok(pets.every(Object.isFrozen));
    assert.ok(pages.every(({ pets }) => pets.every(Object.isFrozen)));
  });

  it("gives each caller a page of its own", async (storage) => {
    await addPets(storage, 3);
    const query = { limit: 2 };
    const reads = [storage.list(query), storage.list(query)];
    query.limit = 1; // too late: it was asked for two
    const [first, second] = await Promise.all(reads);
    (first?.pets as Pet[]).splice(0);
    assert.deepEqual(second?.pets.map(({ id }) => id), [1n, 2n]);
  });

  it("fails only reads of a row that cannot be read", async (storage, sql) => {
    await addPets(storage, 10);
    await sql(impossible);
    const gets = Array.from({ length: 10 }, (_, i) => petId(BigInt(i + 1)));
    const outcomes = await Promise.allSettled([
      ...gets.map((id) => storage.get(id)),
      ...gets.map((id) => storage.list({ limit: 2, after: id })),
    ]);
    const failed = outcomes.flatMap(({ status }, index) =>
      status === "rejected" ? [index] : []
    );
    // A page reads one pet more than it holds.
    assert.deepEqual(failed, [4, 11, 12, 13]);
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
    const message = (action: string) =>
      `Cannot ${action}: the storage is closed`;
    const cases = [
      ["create pet", storage.create(REX)],
      ["get pet", get(petId(1n))],
      ["list pets", list({ limit: 1 })],
      ["check API key", isActive("1")],
    ] as const;
    for (const [action, read] of cases) {
      const expected = { kind: "unavailable", message: message(action) };
      await assert.rejects(read, expected);
    }
  });
}

async function addPets(storage: PetDatabase, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => {
    const status = STATUSES[i % 2] ?? "sold";
    return storage.create(newPet({ ...REX, name: `Rex ${i}`, status }));
  }));
}
