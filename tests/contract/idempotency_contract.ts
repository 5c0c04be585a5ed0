/** The promises of `PetStorage` about idempotency keys: a test per clause, each on a fresh storage. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pet } from "../../core/pets/pet.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { newPet, REX } from "../support/new_pet.ts";
import type { TestOptions } from "./test_options.ts";

/** Opens a storage; where several are opened at one place they share what they keep. */
export type Open = (
  options?: { readonly idempotencyRetention?: number },
) => Promise<PetStorage>;

const TOM = newPet({ name: "Tom", categoryId: 2n, status: "sold" });

/** A key such as the service makes. */
export function key(number: number): { readonly idempotencyKey: string } {
  return { idempotencyKey: number.toString(16).padStart(64, "0") };
}

/** Registers the tests; `newPlace` makes a place where nothing is stored. */
export function idempotencyContract(
  name: string,
  newPlace: () => Promise<Open>,
  options: TestOptions = {},
): void {
  function it(
    promise: string,
    check: (storage: PetStorage) => Promise<void>,
    retention?: number,
  ): void {
    test(`${name} ${promise}`, options, async () => {
      const open = await newPlace();
      const storage = await (retention === undefined
        ? open()
        : open({ idempotencyRetention: retention }));
      try {
        await check(storage);
      } finally {
        await storage.close();
      }
    });
  }

  it("adds one pet for a key that is sent again", async (storage) => {
    const first = await storage.create(REX, key(1));
    const again = await storage.create(REX, key(1));
    assert.deepEqual(again, { ...first, replayed: true });
    assert.deepEqual(await all(storage), [first]);
  });

  it("adds a pet for each key, and for each create without one", async (storage) => {
    const pets = [
      await storage.create(REX, key(1)),
      await storage.create(REX, key(2)),
      await storage.create(REX),
      await storage.create(REX),
    ];
    assert.ok(pets.every((pet) => pet.replayed === undefined));
    assert.deepEqual(await all(storage), pets);
  });

  it("returns the pet of a key whatever is sent with it later", async (storage) => {
    const first = await storage.create(REX, key(1));
    const other = await storage.create(TOM, key(1));
    assert.deepEqual(other, { ...first, replayed: true });
    assert.deepEqual(await all(storage), [first]);
  });

  it("adds one pet for a key that is sent 64 times at once", async (storage) => {
    const created = await Promise.all(
      Array.from({ length: 64 }, () => storage.create(REX, key(1))),
    );
    const [pet, ...others] = await all(storage);
    assert.deepEqual(others, []);
    assert.deepEqual(
      created.filter(({ replayed }) => replayed === undefined),
      [pet],
    );
    assert.ok(created.every(({ id }) => id === pet?.id));
  });

  it("tells new, known and missing keys apart in one batch", async (storage) => {
    const known = await storage.create(TOM, key(0));
    const created = await Promise.all(
      Array.from({ length: 300 }, (_, i) => {
        const pet = newPet({
          name: `Pet ${i}`,
          categoryId: BigInt(i),
          status: "pending",
        });
        if (i % 3 === 0) return storage.create(pet);
        if (i % 3 === 1) return storage.create(pet, key(i));
        return storage.create(pet, key(0));
      }),
    );
    const added = created.filter(({ replayed }) => replayed === undefined);
    assert.equal(added.length, 200);
    for (const [i, pet] of created.entries()) {
      if (i % 3 === 2) assert.deepEqual(pet, { ...known, replayed: true });
      else assert.equal(pet.name, `Pet ${i}`);
    }
    assert.deepEqual(await all(storage), [known, ...added].toSorted(byId));
  });

  it("gives greater ids after a key that was sent again", async (storage) => {
    const first = await storage.create(REX, key(1));
    await storage.create(REX, key(1));
    const next = await storage.create(REX, key(2));
    assert.ok(next.id > first.id);
    const last = await storage.create(REX);
    assert.ok(last.id > next.id);
  });

  it(
    "adds a pet again once its key has expired, and keeps the earlier one",
    async (storage) => {
      const pets: Pet[] = [];
      for (let i = 0; i < 9; i++) {
        pets.push(await storage.create(REX, key(i % 2)));
      }
      assert.ok(pets.every((pet) => !("replayed" in pet)));
      assert.deepEqual(await all(storage), pets);
    },
    0,
  );

  test(
    `${name} refuses an idempotencyRetention that is no integer of at least 0`,
    options,
    async () => {
      const open = await newPlace();
      for (const idempotencyRetention of [-1, 0.5, NaN, Infinity]) {
        await assert.rejects(
          async () => await (await open({ idempotencyRetention })).close(),
          RangeError,
        );
      }
    },
  );
}

/** Registers the tests of what a storage promises that several processes use. */
export function sharedIdempotencyContract(
  name: string,
  newPlace: () => Promise<Open>,
  options: TestOptions = {},
): void {
  function it(promise: string, check: (open: Open) => Promise<void>): void {
    test(
      `${name} ${promise}`,
      options,
      async () => await check(await newPlace()),
    );
  }

  it("knows a key when it is opened again", async (open) => {
    const first = await open();
    const pet = await first.create(REX, key(1));
    await first.close();
    const second = await open();
    try {
      assert.deepEqual(await second.create(REX, key(1)), {
        ...pet,
        replayed: true,
      });
    } finally {
      await second.close();
    }
  });

  it("adds one pet for each key that several send at once, time and again", async (open) => {
    const storages = await Promise.all(Array.from({ length: 4 }, () => open()));
    try {
      for (let round = 0; round < 20; round++) {
        const created = await Promise.all(
          storages.flatMap((storage) =>
            Array.from(
              { length: 8 },
              (_, i) => storage.create(REX, key(round * 8 + i % 4)),
            )
          ),
        );
        const added = created.filter(({ replayed }) => replayed === undefined);
        assert.equal(added.length, 4, `round ${round}`);
        assert.equal(new Set(created.map(({ id }) => id)).size, 4);
      }
      for (const storage of storages) {
        assert.equal((await storage.list({ limit: 1000 })).pets.length, 80);
      }
    } finally {
      await Promise.all(storages.map((storage) => storage.close()));
    }
  });

  it("forgets a key that is too old for who asks, and replaces it", async (open) => {
    const [keeps, forgets] = [
      await open(),
      await open({ idempotencyRetention: 0 }),
    ];
    try {
      for (const older of [2, 3, 4]) await keeps.create(REX, key(older));
      const first = await keeps.create(REX, key(1));
      const second = await forgets.create(REX, key(1));
      assert.ok(second.id > first.id);
      assert.deepEqual(await keeps.create(REX, key(1)), {
        ...second,
        replayed: true,
      });
    } finally {
      await Promise.all([keeps.close(), forgets.close()]);
    }
  });
}

async function all(storage: PetStorage): Promise<readonly Pet[]> {
  return (await storage.list({ limit: 1000 })).pets;
}

function byId(a: Pet, b: Pet): number {
  return a.id < b.id ? -1 : 1;
}
