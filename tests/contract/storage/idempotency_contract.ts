/** The promises of `PetStorage` about idempotency keys, with one test for each. */

import assert from "node:assert/strict";
import type { CheckedPet, Pet } from "../../../core/pets/pet.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import {
  type ContractOptions,
  inPlace,
  inSharedPlace,
  onStorage,
} from "./contract_options.ts";
import { assertAscending, assertSame } from "./assertions.ts";
import {
  assertCreated,
  assertFound,
  assertListed,
  byId,
  change,
  create,
  DELICATE_PETS,
  idsOf,
  key,
  plain,
  REX,
  samplePet,
} from "./sample_pets.ts";

/**
 * Registers a test for each promise of {@linkcode PetStorage} about idempotency keys.
 *
 * @example With `node:test`
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { idempotencyContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () => idempotencyContract({ it, open: async () => memoryStorage() });
 * ```
 *
 * @param options how to register a test and open a storage.
 */
export function idempotencyContract(
  options: ContractOptions<PetStorage>,
): void {
  const withStorage = { test: onStorage(options) };

  withStorage.test("create adds one pet if its idempotency key is sent again", async (storage) => {
    const first = await create(storage, REX, key(1));
    assertReplay(await storage.create(REX, key(1)), first);
    await assertAll(storage, [first]);
  });

  withStorage.test("create adds a pet for each idempotency key, and for each create without one", async (storage) => {
    const pets = [
      await create(storage, REX, key(1)),
      await create(storage, REX, key(2)),
      await create(storage, REX),
      await create(storage, REX),
    ];
    await assertAll(storage, pets);
  });

  withStorage.test("create keeps a pet exactly with an idempotency key, and returns it again", async (storage) => {
    for (const [i, pet] of Object.values(DELICATE_PETS).flat().entries()) {
      const first = await create(storage, pet, key(i));
      await assertFound(storage, first);
      assertReplay(await storage.create(pet, key(i)), first);
    }
  });

  withStorage.test("create returns the first pet of an idempotency key, whatever is sent later", async (storage) => {
    const first = await create(storage, samplePet(1), key(1));
    assertReplay(await storage.create(samplePet(2), key(1)), first);
    await assertAll(storage, [first]);
  });

  withStorage.test("create adds one pet if its idempotency key is sent 64 times at once", async (storage) => {
    const given = Array.from({ length: 64 }, (_, i) => samplePet(i));
    const created = await Promise.all(
      given.map((pet) => storage.create(pet, key(1))),
    );
    await assertAll(storage, [assertOneAdded(given, created)]);
  });

  withStorage.test("a change of a pet that one caller was returned changes none that another is", async (storage) => {
    const { id } = await create(storage, REX);
    const calls = {
      "create with a new idempotency key": () => storage.create(REX, key(1)),
      "create with a known idempotency key": () => storage.create(REX, key(1)),
      get: () => storage.get(id),
      list: async () => (await storage.list({ limit: 1 })).pets[0],
    };
    for (const [method, call] of Object.entries(calls)) {
      await Promise.all([1, 2, 3].map(async () => {
        const pet = await call();
        const what = `the name that ${method} returned to one of several`;
        assertSame(pet?.name, REX.name, what);
        change(pet);
      }));
    }
  });

  withStorage.test("create tells new, known and missing idempotency keys apart, sent at once", async (storage) => {
    const known = await create(storage, REX, key(0));
    const added: Pet[] = [];
    await Promise.all(Array.from({ length: 300 }, async (_, i) => {
      const pet = samplePet(i);
      if (i % 3 === 0) added.push(await create(storage, pet));
      else if (i % 3 === 1) added.push(await create(storage, pet, key(i)));
      else assertReplay(await storage.create(pet, key(0)), known);
    }));
    await assertAll(storage, byId([known, ...added]));
  });

  withStorage.test("create gives greater ids after an idempotency key was sent again", async (storage) => {
    const first = await create(storage, REX, key(1));
    await storage.create(REX, key(1));
    const next = await create(storage, REX, key(2));
    const last = await create(storage, REX);
    assertAscending(idsOf([first, next, last]));
  });

  persistenceContract(options);
}

/**
 * Registers a test for each promise about idempotency keys that outlive the storage that stored
 * them.
 */
function persistenceContract(options: ContractOptions<PetStorage>): void {
  const withPlace = { test: inPlace(options) };
  const withSharedPlace = { test: inSharedPlace(options) };

  withPlace.test("a storage that is opened again knows the idempotency keys", async (open) => {
    const first = await open();
    const pet = await create(first, REX, key(1));
    await first.close();
    assertReplay(await (await open()).create(REX, key(1)), pet);
  });

  withSharedPlace.test("create adds one pet for each idempotency key that several storages send at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 4 }, open));
    const added: Pet[] = [];
    for (let round = 0; round < 20; round++) {
      const given = Array.from({ length: 8 }, (_, i) => samplePet(i));
      await Promise.all([1, 2, 3, 4].map(async (i) => {
        const created = await Promise.all(
          given.flatMap((pet, j) =>
            storages[j % 4]?.create(pet, key(round * 4 + i)) ?? []
          ),
        );
        added.push(assertOneAdded(given, created));
      }));
    }
    for (const storage of storages) await assertAll(storage, byId(added));
  });
}

/** Asserts that the storage has these pets and no others. */
function assertAll(
  storage: PetStorage,
  expected: readonly Pet[],
): Promise<void> {
  return assertListed(storage, { limit: 1000 }, expected);
}

/** Asserts that one of these creates with the same key added its pet, which the others returned. */
function assertOneAdded(
  given: readonly CheckedPet[],
  created: readonly (Pet & { readonly replayed?: true })[],
): Pet {
  const index = created.findIndex(({ replayed }) => replayed === undefined);
  const [pet, sent] = [created[index], given[index]];
  assert.ok(pet && sent, "all creates with a new idempotency key were replays");
  const first = assertCreated(pet, sent);
  for (const [i, pet] of created.entries()) {
    if (i !== index) assertReplay(pet, first);
  }
  return first;
}

/** Asserts that create returned the first pet of the idempotency key. */
export function assertReplay(actual: Pet, first: Pet): void {
  const what = "what create returned for a known idempotency key";
  assertSame(plain(actual), { ...first, replayed: true }, what);
}
