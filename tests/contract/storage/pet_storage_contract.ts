/** The promises of `PetStorage`, except for idempotency keys, with one test for each. */

import assert from "node:assert/strict";
import { type Pet, petId } from "../../../core/pets/pet.ts";
import type { PageRequest } from "../../../core/pets/page.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { assertAscending, assertClosed, assertSame } from "./assertions.ts";
import {
  type ContractOptions,
  inPlace,
  inSharedPlace,
  onStorage,
} from "./contract_options.ts";
import {
  assertFound,
  assertListed,
  byId,
  change,
  create,
  createAtOnce,
  createSamples,
  DELICATE_PETS,
  idsOf,
  listCall,
  plain,
  REX,
  samplePet,
  STATUSES,
} from "./sample_pets.ts";

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** From here on a `number` is not exact. */
const INEXACT = 2n ** 53n;

type Filter = Pick<PageRequest, "status">;
const FILTERS: readonly Filter[] = [
  {},
  ...STATUSES.map((status) => ({ status })),
];

/**
 * Registers a test for each promise of {@linkcode PetStorage}, except those about idempotency keys.
 *
 * @example With `node:test`
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { petStorageContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () => petStorageContract({ it, open: async () => memoryStorage() });
 * ```
 *
 * @param options how to register a test and open a storage.
 */
export function petStorageContract(options: ContractOptions<PetStorage>): void {
  const withStorage = { test: onStorage(options) };

  withStorage.test("create returns the pet with an id, and get finds it", async (storage) => {
    const pet = await create(storage, REX);
    assert.ok(pet.id >= 1n, `the id of the first pet is ${pet.id}`);
    await assertFound(storage, pet);
  });

  for (const [what, pets] of Object.entries(DELICATE_PETS)) {
    withStorage.test(`create, get and list keep ${what}`, async (storage) => {
      for (const pet of pets) {
        await assertFound(storage, await create(storage, pet));
      }
    });
  }

  withStorage.test("get and list find nothing if nothing was created", async (storage) => {
    assertSame(await storage.get(petId(1n)), undefined, "get(1)");
    await assertListed(storage, { limit: 100 }, []);
  });

  withStorage.test("get returns undefined if no pet has the id", async (storage) => {
    const last = idsOf(await createSamples(storage, 3)).at(-1) ?? 0n;
    for (const id of [last + 1n, INEXACT + last, INT64_MAX]) {
      assertSame(await storage.get(petId(id)), undefined, `get(${id})`);
    }
  });

  withStorage.test("list starts after any int64", async (storage) => {
    const pets = await createSamples(storage, 5);
    const below = [INT64_MIN, -INEXACT, -1n, 0n];
    const beyond = [INEXACT - 1n, INEXACT + 1n, INT64_MAX];
    for (const after of [...below, ...idsOf(pets), ...beyond]) {
      const expected = pets.filter((pet) => pet.id > after);
      for (const filter of FILTERS) {
        const query = { limit: 9, after, ...filter };
        await assertListed(storage, query, matching(expected, filter));
      }
    }
  });

  withStorage.test("list has a last id exactly when more pets match", async (storage) => {
    const pets = await createSamples(storage, 6);
    for (const filter of FILTERS) {
      const ids = idsOf(matching(pets, filter));
      for (let limit = 1; limit <= 7; limit++) {
        const query = { limit, ...filter };
        const { last } = await storage.list(query);
        const expected = limit < ids.length ? ids[limit - 1] : undefined;
        assertSame(last, expected, `the last of ${listCall(query)}`);
      }
    }
  });

  withStorage.test("list returns pages that together are all pets that match, in order", async (storage) => {
    const pets = await createSamples(storage, 43);
    for (const filter of FILTERS) {
      for (const limit of [1, 2, 3, 7, 42, 43, 44, 100, 1_000_000]) {
        await assertWalk(storage, matching(pets, filter), limit, filter);
      }
    }
  });

  withStorage.test("create gives each pet an id that is greater than all before", async (storage) => {
    assertAscending(idsOf(await createSamples(storage, 20)));
  });

  withStorage.test("create gives each of 300 pets at once an id of its own", async (storage) => {
    const first = await create(storage, REX);
    const pets = byId([first, ...await createAtOnce(storage, 300)]);
    assertSame(pets[0], first, "the pet with the least id");
    assertAscending(idsOf(pets));
    await Promise.all(
      [50, 100].map((limit) => assertWalk(storage, pets, limit)),
    );
  });

  withStorage.test("create returns to each of 300 at once the pet that it was given, with its id", async (storage) => {
    for (const pet of await createAtOnce(storage, 300)) {
      await assertFound(storage, pet);
    }
  });

  withStorage.test("get and list see a pet once its create is fulfilled", async (storage) => {
    await Promise.all(Array.from({ length: 50 }, async (_, i) => {
      await assertFound(storage, await create(storage, samplePet(i)));
    }));
  });

  withStorage.test("a walk during creates sees each earlier pet once, in order", async (storage) => {
    const before = await createSamples(storage, 60);
    let isWalking = true;
    const creating = Array.from({ length: 8 }, async (_, i) => {
      while (isWalking) {
        await create(storage, samplePet(i));
        await nextTask(); // otherwise a storage in memory would never let the walk run
      }
    });
    // Ends after the earlier pets, because creates continue as long as the walk does.
    const walking = (async () => {
      const pets: Pet[] = [];
      while (pets.length < before.length) {
        const after = pets.at(-1)?.id ?? 0n;
        const page = await storage.list({ limit: 7, after });
        assert.ok(page.pets.length > 0, `list found no pet after ${after}`);
        pets.push(...page.pets.map(plain));
        await nextTask();
      }
      return pets;
    })().finally(() => isWalking = false);
    const [walked] = await Promise.all([walking, ...creating]);
    const seen = walked.slice(0, before.length);
    assertSame(seen, before, "the earlier pets that the walk saw");
    assertAscending(idsOf(walked));
  });

  withStorage.test("ids become visible in ascending order", async (storage) => {
    const looks: (readonly Pet[])[] = [];
    let isCreating = true;
    let isLooking = true;
    const creating = Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        // Some looks are enough, and a storage whose list is slow gets time for them.
        for (
          let round = 0;
          round < 5 || isLooking && looks.length < 3;
          round++
        ) {
          await create(storage, samplePet(i));
          await nextTask();
        }
      }),
    ).finally(() => isCreating = false);
    const looking = (async () => {
      while (isCreating) {
        looks.push((await storage.list({ limit: 1_000_000 })).pets.map(plain));
        await nextTask();
      }
    })().finally(() => isLooking = false);
    await Promise.all([looking, creating]);
    const all = (await storage.list({ limit: 1_000_000 })).pets.map(plain);
    assert.ok(all.length >= 200, `list found ${all.length} of 200 pets`);
    // Each look saw a prefix of the whole: no smaller id appeared later.
    for (const seen of looks) {
      const beginning = all.slice(0, seen.length);
      assertSame(seen, beginning, "what list showed during the creates");
    }
  });

  withStorage.test("a change of an object that was passed in or returned changes no pet", async (storage) => {
    const given = { ...REX };
    const creating = storage.create(given);
    change(given);
    const pet = await creating;
    const { id } = pet;
    await storage.create(REX);
    const page = await storage.list({ limit: 1 });
    change(page);
    for (const object of [pet, await storage.get(id), ...page.pets]) {
      change(object);
    }
    await assertFound(storage, { id, ...REX });
    const { last } = await storage.list({ limit: 1 });
    assertSame(last, id, "the last of a page, after that of another changed");
  });

  withStorage.test("ping is fulfilled while the storage is open", async (storage) => {
    await storage.ping();
  });

  withStorage.test("close finishes the creates under way", async (storage) => {
    const creating = createAtOnce(storage, 300);
    const [pets] = await Promise.all([creating, storage.close()]);
    assertAscending(idsOf(byId(pets)));
  });

  withStorage.test("close may be called more than once", async (storage) => {
    await storage.create(REX);
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  withStorage.test("every method rejects as unavailable after close", async (storage) => {
    const { id } = await storage.create(REX);
    await storage.close();
    await assertClosed({
      create: () => storage.create(REX),
      get: () => storage.get(id),
      list: () => storage.list({ limit: 1 }),
      ping: () => storage.ping(),
    });
  });

  persistenceContract(options);
}

/** Registers a test for each promise about pets that outlive the storage that created them. */
function persistenceContract(options: ContractOptions<PetStorage>): void {
  const withPlace = { test: inPlace(options) };
  const withSharedPlace = { test: inSharedPlace(options) };

  withPlace.test("a storage that is opened again has every pet", async (open) => {
    const first = await open();
    const pets = await createSamples(first, 30);
    await first.close();
    await assertWalk(await open(), pets, 7);
  });

  withPlace.test("a storage that is opened again has the pets that were being created during close", async (open) => {
    const first = await open();
    const creating = createAtOnce(first, 300);
    const [pets] = await Promise.all([creating, first.close()]);
    await assertWalk(await open(), byId(pets), 100);
  });

  withPlace.test("a storage that is opened again gives greater ids than before", async (open) => {
    const ids: bigint[] = [];
    for (let round = 0; round < 4; round++) {
      const storage = await open();
      ids.push(...idsOf(await createSamples(storage, 3)));
      await storage.close();
    }
    assertAscending(ids);
  });

  withSharedPlace.test("a new place can be opened 16 times at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 16 }, open));
    const pets = await Promise.all(
      storages.flatMap((storage, i) =>
        Array.from({ length: 5 }, () => create(storage, samplePet(i)))
      ),
    );
    assertAscending(idsOf(byId(pets)));
    for (const storage of storages) {
      await assertWalk(storage, byId(pets), 100);
    }
  });

  withSharedPlace.test("a storage sees a pet once a create is fulfilled in another", async (open) => {
    const [one, other] = [await open(), await open()];
    const ids: bigint[] = [];
    const turns = [[one, other], [one, other], [other, one]] as const;
    for (let round = 0; round < 7; round++) {
      for (const [writer, reader] of turns) {
        const pet = await create(writer, samplePet(round));
        await assertFound(reader, pet);
        for (const storage of [writer, reader]) {
          await Promise.all([99, 100].map(async (limit) => {
            const { pets } = await storage.list({ limit });
            assertSame(idsOf(pets).at(-1), pet.id, "the last id of list");
          }));
        }
        ids.push(pet.id);
      }
    }
    assertAscending(ids);
  });
}

/** Asserts that the pages of a listing together have exactly these pets. */
async function assertWalk(
  storage: PetStorage,
  expected: readonly Pet[],
  limit: number,
  filter: Filter = {},
): Promise<void> {
  const walked: Pet[] = [];
  let query: PageRequest = { limit, ...filter };
  for (;;) {
    const { pets, last } = await storage.list(query);
    walked.push(...pets.map(plain));
    const call = listCall(query);
    assert.ok(pets.length <= limit, `${pets.length} pets of ${call}`);
    if (last === undefined) break;
    assertSame(last, idsOf(pets).at(-1), `the last of ${call}`);
    assert.ok(last > (query.after ?? 0n), `${call} has no pet after that`);
    query = { ...query, after: last };
  }
  const what = `the pets of all pages, to ${listCall(query)}`;
  assertSame(walked, expected, what);
}

function matching(pets: readonly Pet[], { status }: Filter): readonly Pet[] {
  return pets.filter((pet) => status === undefined || pet.status === status);
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
