/** The promises of `PetStorage`, without idempotency keys: one test for each. */

import assert from "node:assert/strict";
import { type Pet, petId, type PetStatus } from "../../../core/pets/pet.ts";
import {
  type PetStorage,
  StorageError,
} from "../../../core/pets/pet_storage.ts";
import {
  type ContractOptions,
  inPlace,
  onStorage,
} from "./contract_options.ts";
import {
  byId,
  createAtOnce,
  createSamples,
  DELICATE_NAMES,
  idsOf,
  plain,
  REX,
  samplePet,
  STATUSES,
} from "./sample_pets.ts";

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** From here on, a `number` is not exact. */
const INEXACT = 2n ** 53n;

/**
 * Registers a test for each promise of {@linkcode PetStorage}, except those on idempotency keys.
 *
 * @example
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { petStorageContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () => petStorageContract({ it, open: async () => memoryStorage() });
 * ```
 */
export function petStorageContract(options: ContractOptions<PetStorage>): void {
  const it = onStorage(options);

  it("create returns the pet with an id, and get finds it", async (storage) => {
    const pet = await storage.create(REX);
    assert.ok(pet.id >= 1n);
    assert.deepEqual(plain(pet), { id: pet.id, ...REX });
    assert.deepEqual(await get(storage, pet.id), { id: pet.id, ...REX });
  });

  it("create, get and list keep a delicate name exactly", async (storage) => {
    for (const name of DELICATE_NAMES) {
      await assertKept(storage, { ...REX, name });
    }
  });

  it("create, get and list keep any int64 exactly", async (storage) => {
    const beyond = INEXACT + 1n;
    for (const categoryId of [INT64_MIN, -beyond, -1n, 0n, beyond, INT64_MAX]) {
      await assertKept(storage, { ...REX, categoryId });
    }
  });

  it("get and list find nothing if nothing was created", async (storage) => {
    assert.equal(await storage.get(petId(1n)), undefined);
    assert.deepEqual(await list(storage, { limit: 100 }), []);
  });

  it("get returns undefined if no pet has the id", async (storage) => {
    const last = lastOf(await createSamples(storage, 3)).id;
    for (const id of [last + 1n, INEXACT + last, INT64_MAX]) {
      assert.equal(await storage.get(petId(id)), undefined, `id ${id}`);
    }
  });

  it("list starts after any int64", async (storage) => {
    const pets = await createSamples(storage, 5);
    const below = [INT64_MIN, -INEXACT, -1n, 0n];
    const beyond = [INEXACT - 1n, INEXACT + 1n, INT64_MAX];
    for (const after of [...below, ...idsOf(pets), ...beyond]) {
      const expected = pets.filter((pet) => pet.id > after);
      for (const status of [undefined, "sold"] as const) {
        assert.deepEqual(
          await list(storage, { limit: 9, after, ...withStatus(status) }),
          matching(expected, status),
          `after ${after}, status ${status}`,
        );
      }
    }
  });

  it("list has a last id exactly when more pets match", async (storage) => {
    const pets = await createSamples(storage, 6);
    for (const status of [undefined, ...STATUSES]) {
      const ids = idsOf(matching(pets, status));
      for (let limit = 1; limit <= 7; limit++) {
        const { last } = await storage.list({ limit, ...withStatus(status) });
        const expected = limit < ids.length ? ids[limit - 1] : undefined;
        assert.equal(last, expected, `limit ${limit}, status ${status}`);
      }
    }
  });

  it("list returns pages that together are all pets that match, in order", async (storage) => {
    const pets = await createSamples(storage, 43);
    for (const status of [undefined, ...STATUSES]) {
      for (const limit of [1, 2, 3, 7, 42, 43, 44, 100, 1_000_000]) {
        assert.deepEqual(
          await walk(storage, limit, status),
          matching(pets, status),
          `limit ${limit}, status ${status}`,
        );
      }
    }
  });

  it("create gives each pet an id that is greater than all before", async (storage) => {
    assertAscending(idsOf(await createSamples(storage, 20)));
  });

  it("create gives each of 300 pets at once an id of its own", async (storage) => {
    const first = await storage.create(REX);
    const pets = await createAtOnce(storage, 300);
    assert.equal(new Set(idsOf(pets)).size, 300);
    assert.ok(pets.every((pet) => pet.id > first.id));
    const listed = await walk(storage, 50);
    assertAscending(idsOf(listed));
    assert.deepEqual(listed, byId([first, ...pets]));
  });

  it("get and list see a pet once its create is fulfilled", async (storage) => {
    await Promise.all(Array.from({ length: 50 }, async (_, i) => {
      const pet = plain(await storage.create(samplePet(i)));
      const query = { limit: 1, after: pet.id - 1n };
      const { status } = pet;
      assert.deepEqual(await get(storage, pet.id), pet);
      assert.deepEqual(await list(storage, query), [pet]);
      assert.deepEqual(await list(storage, { ...query, status }), [pet]);
    }));
  });

  it("a walk during creates sees each earlier pet once, in order", async (storage) => {
    const before = (await createSamples(storage, 60)).map(plain);
    let isWalking = true;
    const creating = Array.from({ length: 8 }, async (_, i) => {
      while (isWalking) {
        await storage.create(samplePet(i));
        await nextTask(); // or a storage in memory would leave no turn to the walk
      }
    });
    // Ends after the earlier pets, because creates go on as long as the walk does.
    const walking = (async () => {
      const pets: Pet[] = [];
      while (pets.length < before.length) {
        const after = pets.at(-1)?.id ?? 0n;
        const page = await list(storage, { limit: 7, after });
        assert.ok(page.length > 0, `no pet after ${after}`);
        pets.push(...page);
        await nextTask();
      }
      return pets;
    })().finally(() => isWalking = false);
    const [walked] = await Promise.all([walking, ...creating]);
    assert.deepEqual(walked.slice(0, before.length), before);
    assertAscending(idsOf(walked));
  });

  it("ids become visible in ascending order", async (storage) => {
    let isCreating = true;
    const creating = Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        for (let round = 0; round < 5; round++) {
          await storage.create(samplePet(i));
          await nextTask();
        }
      }),
    ).finally(() => isCreating = false);
    const looking = (async () => {
      const looks: (readonly Pet[])[] = [];
      while (isCreating) {
        looks.push(await list(storage, { limit: 1000 }));
        await nextTask();
      }
      return looks;
    })();
    const [looks] = await Promise.all([looking, creating]);
    assert.ok(looks.length > 2);
    const all = await list(storage, { limit: 1000 });
    assert.equal(all.length, 200);
    // Each look saw a beginning of the whole: nothing appeared later below what it showed.
    for (const seen of looks) {
      assert.deepEqual(seen, all.slice(0, seen.length));
    }
  });

  it("a change of an object that was passed in or returned changes no pet", async (storage) => {
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
    assert.deepEqual(await get(storage, id), { id, ...REX });
    const again = await storage.list({ limit: 1 });
    assert.deepEqual(again.pets.map(plain), [{ id, ...REX }]);
    assert.equal(again.last, id);
  });

  it("ping is fulfilled while the storage is open", async (storage) => {
    await storage.ping();
  });

  it("close finishes the creates under way", async (storage) => {
    const creating = createAtOnce(storage, 300);
    const [pets] = await Promise.all([creating, storage.close()]);
    assert.equal(new Set(idsOf(pets)).size, 300);
  });

  it("close may be called more than once", async (storage) => {
    await storage.create(REX);
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  it("every method rejects as unavailable after close", async (storage) => {
    const { id } = await storage.create(REX);
    await storage.close();
    await assertUnavailable(() => storage.create(REX));
    await assertUnavailable(() => storage.get(id));
    await assertUnavailable(() => storage.list({ limit: 1 }));
    await assertUnavailable(() => storage.ping());
  });

  persistenceContract(options);
}

/** Registers a test for each promise on pets that outlive the storage that created them. */
function persistenceContract(options: ContractOptions<PetStorage>): void {
  const it = inPlace(options);

  it("a storage that is opened again has every pet", async (open) => {
    const first = await open();
    const pets = await createSamples(first, 30);
    await first.close();
    assert.deepEqual(await walk(await open(), 7), pets.map(plain));
  });

  it("a storage that is opened again has the pets that were being created during close", async (open) => {
    const first = await open();
    const creating = createAtOnce(first, 300);
    const [pets] = await Promise.all([creating, first.close()]);
    assert.deepEqual(await walk(await open(), 100), byId(pets));
  });

  it("a storage that is opened again gives greater ids than before", async (open) => {
    const ids: bigint[] = [];
    for (let round = 0; round < 4; round++) {
      const storage = await open();
      ids.push(...idsOf(await createSamples(storage, 3)));
      await storage.close();
    }
    assertAscending(ids);
  });

  it("a new place can be opened 16 times at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 16 }, open));
    const pets = await Promise.all(
      storages.flatMap((storage, i) =>
        Array.from({ length: 5 }, () => storage.create(samplePet(i)))
      ),
    );
    assert.equal(new Set(idsOf(pets)).size, 80);
    for (const storage of storages) {
      assert.deepEqual(await walk(storage, 100), byId(pets));
    }
  });

  it("a storage sees a pet once a create is fulfilled in another", async (open) => {
    const [one, other] = [await open(), await open()];
    const ids: bigint[] = [];
    const turns = [[one, other], [one, other], [other, one]] as const;
    for (let round = 0; round < 7; round++) {
      for (const [writer, reader] of turns) {
        const pet = plain(await writer.create(samplePet(round)));
        assert.deepEqual(await get(reader, pet.id), pet);
        for (const storage of [writer, reader]) {
          assert.deepEqual((await list(storage, { limit: 100 })).at(-1), pet);
        }
        ids.push(pet.id);
      }
    }
    assertAscending(ids);
  });
}

/** @throws {assert.AssertionError} if it is fulfilled, or rejected with anything else. */
export async function assertUnavailable(
  act: () => Promise<unknown>,
): Promise<void> {
  await assert.rejects(
    act,
    (error) => error instanceof StorageError && error.kind === "unavailable",
  );
}

async function assertKept(
  storage: PetStorage,
  newPet: typeof REX,
): Promise<void> {
  const pet = await storage.create(newPet);
  const expected = { id: pet.id, ...newPet };
  const query = { limit: 1, after: pet.id - 1n };
  const { status } = newPet;
  assert.deepEqual(plain(pet), expected);
  assert.deepEqual(await get(storage, pet.id), expected);
  assert.deepEqual(await list(storage, query), [expected]);
  assert.deepEqual(await list(storage, { ...query, status }), [expected]);
}

async function get(
  storage: PetStorage,
  id: Pet["id"],
): Promise<Pet | undefined> {
  const pet = await storage.get(id);
  return pet && plain(pet);
}

async function list(
  storage: PetStorage,
  query: Parameters<PetStorage["list"]>[0],
): Promise<readonly Pet[]> {
  return (await storage.list(query)).pets.map(plain);
}

/** Joins the pages of a listing. */
async function walk(
  storage: PetStorage,
  limit: number,
  status?: PetStatus,
): Promise<readonly Pet[]> {
  const walked: Pet[] = [];
  let after: bigint | undefined;
  for (;;) {
    const start = after === undefined ? {} : { after };
    const query = { limit, ...start, ...withStatus(status) };
    const { pets, last } = await storage.list(query);
    assert.ok(pets.length <= limit, `${pets.length} pets, limit ${limit}`);
    walked.push(...pets.map(plain));
    if (last === undefined) return walked;
    assert.equal(last, lastOf(pets).id);
    assert.ok(last > (after ?? 0n), "the walk goes on");
    after = last;
  }
}

function withStatus(
  status: PetStatus | undefined,
): { readonly status?: PetStatus } {
  return status === undefined ? {} : { status };
}

function matching(
  pets: readonly Pet[],
  status: PetStatus | undefined,
): readonly Pet[] {
  return pets.map(plain)
    .filter((pet) => status === undefined || pet.status === status);
}

/** Tries to change an object, which may be frozen. */
function change(object: object | undefined): void {
  try {
    Object.assign(object ?? {}, { name: "Changed", last: 9n });
  } catch (error) {
    assert.ok(error instanceof TypeError);
  }
}

function assertAscending(ids: readonly bigint[]): void {
  assert.ok(ids.length > 1);
  for (const [i, id] of ids.entries()) {
    const before = ids[i - 1] ?? 0n;
    assert.ok(id > before, `${id} came after ${before}`);
  }
}

function lastOf(pets: readonly Pet[]): Pet {
  const last = pets.at(-1);
  assert.ok(last !== undefined, "no pets");
  return last;
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
