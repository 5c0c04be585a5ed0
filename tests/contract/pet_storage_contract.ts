/**
 * The promises of `PetStorage`, as tests: one per clause, each on a fresh storage.
 *
 * To hold a storage of your own to them, call {@linkcode petStorageContract} in a test file, as
 * `tests/adapters/memory/memory_test.ts` does in one line, and run that with `deno test`, `bun test`
 * or `node --test`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { INT64_MAX, INT64_MIN } from "../../core/json.ts";
import {
  type CheckedPet,
  type Pet,
  PET_STATUSES,
  petId,
  type PetStatus,
} from "../../core/pets/pet.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { newPet, REX } from "../support/new_pet.ts";
import type { TestOptions } from "./test_options.ts";
import { fc } from "../support/property.ts";

/** Names that something on the way to the disk and back might change. */
export const DELICATE_NAMES: readonly string[] = [
  "e\u0301", // combining marks: not to be normalised to U+00E9
  "\u00e9",
  "\ufeffRex", // a byte order mark is a character of the name
  "line\u2028separator\u2029",
  'it\'s "Rex"; DROP TABLE pets; --\\ `$1` ? :name %s {}',
  "\u{1f415}".repeat(255),
  "a".repeat(255),
  " Rex ",
  "null",
  "007",
  "1e3",
  "\u200d\u202e\u0000".slice(0, 2), // a joiner and a right-to-left override
  "\u0080\u009f\ufffd\uffff\u{10ffff}",
];

/** Any name that an animal may have. */
export const anyName: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.integer({ min: 0x80, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10ffff }),
    ),
    { minLength: 1, maxLength: 255, size: "medium" },
  )
  .map((codePoints) => String.fromCodePoint(...codePoints));

/** Any animal that can be created. */
export const anyNewPet: fc.Arbitrary<CheckedPet> = fc.record({
  name: anyName,
  categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  status: fc.constantFrom(...PET_STATUSES),
}, { noNullPrototype: true }).map(newPet);

/**
 * Registers the tests.
 *
 * @param name how the test names call the storage.
 * @param open makes an empty storage; the test closes it.
 */
export function petStorageContract(
  name: string,
  open: () => Promise<PetStorage>,
  options: TestOptions = {},
): void {
  function it(
    promise: string,
    check: (storage: PetStorage) => Promise<void>,
  ): void {
    test(`${name} ${promise}`, options, async () => {
      const storage = await open();
      try {
        await check(storage);
      } finally {
        await storage.close();
      }
    });
  }

  it("returns the animal that it created, with an id", async (storage) => {
    const pet = await storage.create(REX);
    assert.ok(pet.id >= 1n);
    assert.deepEqual({ ...pet }, { id: pet.id, ...REX });
    assert.deepEqual({ ...await storage.get(pet.id) }, { id: pet.id, ...REX });
  });

  it("keeps delicate names exactly", async (storage) => {
    for (const name of DELICATE_NAMES) {
      await assertKept(storage, { ...REX, name });
    }
  });

  it("keeps every animal exactly", async (storage) => {
    await fc.assert(
      fc.asyncProperty(anyNewPet, (pet) => assertKept(storage, pet)),
    );
  });

  it("keeps the extremes of int64 exactly", async (storage) => {
    const edge = 2n ** 53n;
    const extremes = [INT64_MIN, -edge - 1n, -1n, 0n, edge + 1n, INT64_MAX];
    for (const categoryId of extremes) {
      await assertKept(storage, { ...REX, categoryId });
    }
  });

  it("has no animal where none was created", async (storage) => {
    assert.equal(await storage.get(petId(1n)), undefined);
    assert.deepEqual((await storage.list({ limit: 100 })).pets, []);
    const pets = await createMany(storage, 3);
    const last = lastOf(pets).id;
    for (const id of [last + 1n, 2n ** 53n + last, INT64_MAX]) {
      assert.equal(await storage.get(petId(id)), undefined, `id ${id}`);
    }
  });

  it("lists from any int64 on", async (storage) => {
    const pets = await createMany(storage, 5);
    const edge = 2n ** 53n;
    const between = pets.map((pet) => pet.id);
    const afters = [
      INT64_MIN,
      -edge,
      -1n,
      0n,
      ...between,
      edge - 1n,
      edge + 1n,
    ];
    for (const after of [...afters, INT64_MAX]) {
      const expected = pets.filter((pet) => pet.id > after);
      assert.deepEqual(
        (await storage.list({ limit: 9, after })).pets,
        expected,
      );
      assert.deepEqual(
        (await storage.list({ limit: 9, after, status: "sold" })).pets,
        expected.filter((pet) => pet.status === "sold"),
        `after ${after}`,
      );
    }
  });

  it("lists pages that joined are the filter of all", async (storage) => {
    const all = await createMany(storage, 43);
    for (const status of [undefined, ...PET_STATUSES]) {
      const expected = all.filter((pet) =>
        status === undefined || pet.status === status
      );
      assert.ok(expected.length > 10);
      for (const limit of [1, 2, 3, 7, 42, 43, 44, 100, 1_000_000]) {
        const walked = await walk(storage, limit, status);
        assert.deepEqual(walked, expected, `status ${status}, limit ${limit}`);
      }
    }
  });

  it("gives 300 creates at once ids of their own", async (storage) => {
    const before = await storage.create(REX);
    const pets = await Promise.all(
      Array.from({ length: 300 }, (_, i) => storage.create(numbered(i))),
    );
    assert.equal(new Set(pets.map((pet) => pet.id)).size, 300);
    assert.ok(pets.every((pet) => pet.id > before.id));
    const listed = await walk(storage, 50);
    assertAscending(listed.map((pet) => pet.id));
    assert.deepEqual(byId(listed), byId([before, ...pets]));
  });

  it("shows an animal to whoever asks after its creation", async (storage) => {
    await Promise.all(Array.from({ length: 50 }, async (_, i) => {
      const pet = await storage.create(numbered(i));
      const query = { limit: 1, after: pet.id - 1n };
      assert.deepEqual(await storage.get(pet.id), pet);
      assert.deepEqual((await storage.list(query)).pets, [pet]);
      assert.deepEqual(
        (await storage.list({ ...query, status: pet.status })).pets,
        [pet],
      );
    }));
  });

  it("shows a walk during creates all that was there when it began, once, in order", async (storage) => {
    const before = await createMany(storage, 60);
    let isWalking = true;
    const creating = Array.from({ length: 8 }, async (_, i) => {
      while (isWalking) {
        await storage.create(numbered(i));
        await nextTask(); // a storage in memory would leave no turn to the walk
      }
    });
    // The walk ends at what was there, for the creates go on as long as it does.
    const walked: Pet[] = [];
    const end = lastOf(before).id;
    for (let after = 0n; after < end; after = lastOf(walked).id) {
      walked.push(...(await storage.list({ limit: 7, after })).pets);
      assert.ok(lastOf(walked).id > after, "the walk goes on");
      await nextTask();
    }
    isWalking = false;
    await Promise.all(creating);
    assert.deepEqual(walked.filter((pet) => pet.id <= end), before);
    assertAscending(walked.map((pet) => pet.id));
  });

  it("shows ids in ascending order", async (storage) => {
    let isCreating = true;
    const creating = Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        for (let round = 0; round < 5; round++) {
          await storage.create(numbered(i));
          await nextTask();
        }
      }),
    ).finally(() => isCreating = false);
    const looks: (readonly Pet[])[] = [];
    while (isCreating) {
      looks.push((await storage.list({ limit: 1000 })).pets);
      await nextTask();
    }
    await creating;
    assert.ok(looks.length > 2);
    const all = (await storage.list({ limit: 1000 })).pets;
    assert.equal(all.length, 200);
    // Each look was a beginning of the whole: nothing appeared below what it showed.
    for (const seen of looks) {
      assert.deepEqual(seen, all.slice(0, seen.length));
    }
  });

  it("is not changed by who changes an object of it", async (storage) => {
    const given: { -readonly [K in keyof CheckedPet]: CheckedPet[K] } = {
      ...REX,
    };
    const creating = storage.create(given);
    given.name = "Changed";
    const pet = await creating;
    await storage.create(REX);
    const page = await storage.list({ limit: 1 });
    const shown = [page, pet, await storage.get(pet.id), ...page.pets];
    for (const object of shown) {
      try {
        Object.assign(object ?? {}, { name: "Changed", last: 9n });
      } catch (error) {
        assert.ok(error instanceof TypeError); // it is frozen
      }
    }
    assert.equal((await storage.get(pet.id))?.name, "Rex");
    const again = await storage.list({ limit: 1 });
    assert.equal(again.pets[0]?.name, "Rex");
    assert.equal(again.last, pet.id);
  });

  it("answers a ping", async (storage) => {
    await storage.ping();
  });

  it("finishes the creates under way when it is closed", async (storage) => {
    const creating = Array.from(
      { length: 300 },
      (_, i) => storage.create(numbered(i)),
    );
    await storage.close();
    const pets = await Promise.all(creating);
    assert.equal(new Set(pets.map((pet) => pet.id)).size, 300);
  });

  it("can be closed again", async (storage) => {
    await storage.create(REX);
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  it("is unavailable once it is closed", async (storage) => {
    const { id } = await storage.create(REX);
    await storage.close();
    await assertUnavailable(() => storage.create(REX));
    await assertUnavailable(() => storage.get(id));
    await assertUnavailable(() => storage.list({ limit: 1 }));
    await assertUnavailable(() => storage.ping());
  });
}

/**
 * Registers the tests of what a storage promises that outlives its process.
 *
 * @param name how the test names call the storage.
 * @param newPlace makes a place where nothing is stored, and returns a function that opens a storage
 * there, any number of times, one after the other and at once.
 */
export function persistentPetStorageContract(
  name: string,
  newPlace: () => Promise<() => Promise<PetStorage>>,
  options: TestOptions = {},
): void {
  function it(
    promise: string,
    check: (open: () => Promise<PetStorage>) => Promise<void>,
  ): void {
    test(
      `${name} ${promise}`,
      options,
      async () => await check(await newPlace()),
    );
  }

  it("has everything when it is opened again", async (open) => {
    const first = await open();
    const pets = await createMany(first, 30);
    await first.close();
    const second = await open();
    try {
      assert.deepEqual(await walk(second, 7), pets);
    } finally {
      await second.close();
    }
  });

  it("keeps the creates that were under way when it was closed", async (open) => {
    const first = await open();
    const creating = Array.from(
      { length: 300 },
      (_, i) => first.create(numbered(i)),
    );
    await first.close();
    const pets = await Promise.all(creating);
    const second = await open();
    try {
      assert.deepEqual(byId(await walk(second, 100)), byId(pets));
    } finally {
      await second.close();
    }
  });

  it("uses no id again when it is opened again", async (open) => {
    const ids: bigint[] = [];
    for (let round = 0; round < 4; round++) {
      const storage = await open();
      ids.push(...(await createMany(storage, 3)).map((pet) => pet.id));
      await storage.close();
    }
    assertAscending(ids);
  });

  it("can be opened 16 times at once where nothing is", async (open) => {
    const storages = await Promise.all(Array.from({ length: 16 }, open));
    try {
      const pets = await Promise.all(
        storages.flatMap((storage, i) =>
          Array.from({ length: 5 }, () => storage.create(numbered(i)))
        ),
      );
      assert.equal(new Set(pets.map((pet) => pet.id)).size, 80);
      for (const storage of storages) {
        assert.deepEqual(byId(await walk(storage, 100)), byId(pets));
      }
    } finally {
      await Promise.all(storages.map((storage) => storage.close()));
    }
  });

  it("shows at once what another that is open has created", async (open) => {
    const [one, other] = [await open(), await open()];
    try {
      const ids: bigint[] = [];
      for (let round = 0; round < 10; round++) {
        for (const [writer, reader] of [[one, other], [other, one]] as const) {
          const pet = await writer.create(numbered(round));
          assert.deepEqual(await reader.get(pet.id), pet);
          ids.push(pet.id);
        }
      }
      assertAscending(ids);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });
}

/** Joins the pages of a listing. */
async function walk(
  storage: PetStorage,
  limit: number,
  status?: PetStatus,
): Promise<readonly Pet[]> {
  const walked: Pet[] = [];
  for (let after = 0n;;) {
    const { pets, last } = await storage.list(
      status === undefined ? { limit, after } : { limit, after, status },
    );
    assert.ok(pets.length <= limit);
    walked.push(...pets);
    if (last === undefined) return walked;
    assert.equal(last, lastOf(pets).id);
    assert.ok(last > after, "the walk goes on");
    after = last;
  }
}

/** Creates animals one after the other, of each status in turn. */
async function createMany(
  storage: PetStorage,
  count: number,
): Promise<readonly Pet[]> {
  const pets: Pet[] = [];
  for (let i = 0; i < count; i++) {
    pets.push(await storage.create(numbered(i)));
  }
  return pets;
}

function numbered(i: number): CheckedPet {
  const status = PET_STATUSES[i % PET_STATUSES.length] ?? "available";
  return newPet({ name: `Pet ${i}`, categoryId: BigInt(i), status });
}

async function assertKept(
  storage: PetStorage,
  newPet: CheckedPet,
): Promise<void> {
  const pet = await storage.create(newPet);
  const expected = { id: pet.id, ...newPet };
  const query = { limit: 1, after: pet.id - 1n };
  assert.deepEqual({ ...pet }, expected);
  assert.deepEqual({ ...await storage.get(pet.id) }, expected);
  assert.deepEqual({ ...(await storage.list(query)).pets[0] }, expected);
  const { status } = newPet;
  assert.deepEqual(
    { ...(await storage.list({ ...query, status })).pets[0] },
    expected,
  );
}

async function assertUnavailable(act: () => Promise<unknown>): Promise<void> {
  await assert.rejects(
    act,
    (error) => error instanceof StorageError && error.kind === "unavailable",
  );
}

function assertAscending(ids: readonly bigint[]): void {
  assert.ok(ids.length > 1);
  for (const [i, id] of ids.entries()) {
    const before = ids[i - 1] ?? 0n;
    assert.ok(id > before, `${id} came after ${before}`);
  }
}

function byId(pets: readonly Pet[]): readonly Pet[] {
  return pets.toSorted((a, b) => a.id < b.id ? -1 : 1);
}

function lastOf(pets: readonly Pet[]): Pet {
  const last = pets.at(-1);
  assert.ok(last !== undefined, "there are pets");
  return last;
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
