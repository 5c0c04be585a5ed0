/** The promises of `PetStorage` on idempotency keys: one test for each. */

import assert from "node:assert/strict";
import { checkNewPet } from "../../../core/pets/new_pet.ts";
import type { Pet } from "../../../core/pets/pet.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import {
  type ContractOptions,
  inPlace,
  onStorage,
} from "./contract_options.ts";
import { byId, idsOf, plain, REX, samplePet } from "./sample_pets.ts";

const TOM = checkNewPet({ name: "Tom", categoryId: 2n, status: "sold" });

/**
 * Registers a test for each promise of {@linkcode PetStorage} on idempotency keys.
 *
 * @example
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { idempotencyContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () => idempotencyContract({ it, open: async () => memoryStorage() });
 * ```
 */
export function idempotencyContract(
  options: ContractOptions<PetStorage>,
): void {
  const it = onStorage(options);

  it("create adds one pet if its idempotency key is sent again", async (storage) => {
    const first = await storage.create(REX, key(1));
    assert.equal(first.replayed, undefined);
    assertReplay(await storage.create(REX, key(1)), first);
    assert.deepEqual(await all(storage), [plain(first)]);
  });

  it("create adds a pet for each idempotency key, and for each create without one", async (storage) => {
    const pets = [
      await storage.create(REX, key(1)),
      await storage.create(REX, key(2)),
      await storage.create(REX),
      await storage.create(REX),
    ];
    assert.ok(pets.every((pet) => pet.replayed === undefined));
    assert.deepEqual(await all(storage), pets.map(plain));
  });

  it("create returns the first pet of an idempotency key, whatever is sent with it later", async (storage) => {
    const first = await storage.create(REX, key(1));
    assertReplay(await storage.create(TOM, key(1)), first);
    assert.deepEqual(await all(storage), [plain(first)]);
  });

  it("create adds one pet if its idempotency key is sent 64 times at once", async (storage) => {
    const created = await Promise.all(
      Array.from({ length: 64 }, () => storage.create(REX, key(1))),
    );
    const added = addedAmong(created);
    assert.equal(added.length, 1);
    assert.deepEqual(await all(storage), added);
    assert.equal(new Set(idsOf(created)).size, 1);
  });

  it("create tells new, known and missing idempotency keys apart if all are sent at once", async (storage) => {
    const known = await storage.create(TOM, key(0));
    const created = await Promise.all(
      Array.from({ length: 300 }, (_, i) => {
        const pet = samplePet(i);
        if (i % 3 === 0) return storage.create(pet);
        return storage.create(pet, key(i % 3 === 1 ? i : 0));
      }),
    );
    for (const [i, pet] of created.entries()) {
      if (i % 3 === 2) assertReplay(pet, known);
      else assert.equal(pet.name, `Pet ${i}`);
    }
    const added = addedAmong(created);
    assert.equal(added.length, 200);
    assert.deepEqual(await all(storage), byId([known, ...added]));
  });

  it("create gives greater ids after an idempotency key was sent again", async (storage) => {
    const first = await storage.create(REX, key(1));
    await storage.create(REX, key(1));
    const next = await storage.create(REX, key(2));
    assert.ok(next.id > first.id);
    const last = await storage.create(REX);
    assert.ok(last.id > next.id);
  });

  persistenceContract(options);
}

/** Registers a test for each promise on idempotency keys that outlive the storage that took them. */
function persistenceContract(options: ContractOptions<PetStorage>): void {
  const it = inPlace(options);

  it("a storage that is opened again knows the idempotency keys", async (open) => {
    const first = await open();
    const pet = await first.create(REX, key(1));
    await first.close();
    assertReplay(await (await open()).create(REX, key(1)), pet);
  });

  it("create adds one pet for each idempotency key that several storages send at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 4 }, open));
    for (let round = 0; round < 20; round++) {
      const created = await Promise.all(
        storages.flatMap((storage) =>
          Array.from(
            { length: 8 },
            (_, i) => storage.create(REX, key(round * 8 + i % 4)),
          )
        ),
      );
      assert.equal(addedAmong(created).length, 4, `round ${round}`);
      assert.equal(new Set(idsOf(created)).size, 4, `round ${round}`);
    }
    for (const storage of storages) {
      assert.equal((await all(storage)).length, 80);
    }
  });
}

/** An idempotency key such as the service makes. */
function key(number: number): { readonly idempotencyKey: string } {
  return { idempotencyKey: number.toString(16).padStart(64, "0") };
}

async function all(storage: PetStorage): Promise<readonly Pet[]> {
  return (await storage.list({ limit: 1000 })).pets.map(plain);
}

function addedAmong(
  created: readonly (Pet & { readonly replayed?: true })[],
): readonly Pet[] {
  return created.filter((pet) => pet.replayed === undefined).map(plain);
}

function assertReplay(actual: Pet, first: Pet): void {
  assert.deepEqual(plain(actual), { ...plain(first), replayed: true });
}
