import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStorage } from "../../../../adapters/storage/memory/mod.ts";
import { INT64_MAX } from "../../../../core/int64.ts";
import { petId, type PetStatus } from "../../../../core/pets/pet.ts";
import {
  type RegisterTest,
  retentionContract,
  storageContract,
} from "../../../contract/storage/mod.ts";
import { REX } from "../../../support/pets.ts";
import { anyNewPet, fc, runs } from "../../../support/property.ts";

const testNamed: RegisterTest = (title, check, timeout) =>
  test(`memoryStorage: ${title}`, { timeout }, check);
const open = async (options = {}) => memoryStorage(options);
storageContract({ it: testNamed, open });
retentionContract({ it: testNamed, open });

test("memoryStorage says why it refuses an API key, and that it is closed", async () => {
  const storage = memoryStorage();
  const key = { name: "a", digest: "b", created: new Date(0) };
  await storage.apiKeys.insert(key);
  const exists = /its digest already exists$/;
  await assert.rejects(storage.apiKeys.insert(key), exists);
  await storage.close();
  await assert.rejects(
    storage.ping(),
    /^StorageError: Cannot use the memory storage: the storage is closed$/,
  );
});

test("memoryStorage keeps an idempotency key exactly as long as it should", async (t) => {
  let time = 0;
  t.mock.method(performance, "now", () => time);
  const storage = memoryStorage({ idempotencyRetention: 10 });
  const isReplayed = async (idempotencyKey: string) =>
    (await storage.create(REX, { idempotencyKey })).replayed === true;
  await storage.create(REX); // one without a key delays nothing
  assert.equal(await isReplayed("again"), false);
  time = 5;
  assert.equal(await isReplayed("other"), false);
  time = 9;
  assert.equal(await isReplayed("again"), true);
  time = 10;
  assert.equal(await isReplayed("again"), false);
  time = 15;
  assert.equal(await isReplayed("other"), false);
  assert.equal(await isReplayed("again"), true);
});

/** Pets whose ids have gaps, or none. */
const anySeed = fc.array(
  fc.tuple(anyNewPet, fc.oneof(fc.constant(1n), fc.bigInt(1n, 2n ** 59n))),
  { maxLength: 7 },
).map((all) => {
  let id = 0n;
  return all.map(([pet, step]) => ({ ...pet, id: petId(id += step) }));
});

// Law: a storage that starts with pets answers as if it had added each of them with its id.
test("memoryStorage has the pets it starts with, and then adds more", async () => {
  const anyNext = fc.option(fc.bigInt(1n, 2n ** 61n), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(anySeed, anyNext, anyNewPet, async (pets, step, added) => {
      const last = pets.at(-1)?.id ?? 0n;
      const nextId = last + (step ?? 1n);
      const given = structuredClone(pets);
      const storage = memoryStorage({
        pets: given,
        ...step !== undefined && { nextId },
      });
      for (const pet of given) Object.assign(pet, { name: "another's" });
      const one = { ...added, id: petId(nextId) };
      const two = { ...added, id: petId(nextId + 1n) };
      assert.deepEqual(await storage.create(added), one);
      assert.deepEqual(await storage.create(added), two);
      const all = [...pets, one, two];
      assert.deepEqual([...storage.allPets], all);
      const near = all.flatMap(({ id }) => [id - 1n, id, id + 1n])
        .filter((id) => id > 0n);
      for (const id of [...near, INT64_MAX].map(petId)) {
        const expected = all.find((pet) => pet.id === id);
        assert.deepEqual(await storage.get(id), expected, `${id}`);
        for (const status of [undefined, "pending" as PetStatus]) {
          const rest = all.filter((pet) =>
            pet.id > id && pet.status === (status ?? pet.status)
          );
          const request = { limit: 2, after: id, ...status && { status } };
          const page = await storage.list(request);
          assert.deepEqual(page.pets, rest.slice(0, 2), `${status}`);
          assert.equal(
            page.last,
            rest.length > 2 ? rest[1]?.id : undefined,
            `${status}`,
          );
        }
      }
    }),
    runs(50),
  );
});

test("memoryStorage gives the last int64 as an id, and then no other", async () => {
  const storage = memoryStorage({ nextId: INT64_MAX });
  const { id } = await storage.create(REX);
  assert.equal(id, INT64_MAX);
  const noIds = { message: "Cannot create pet: no ids are left" };
  await assert.rejects(storage.create(REX), noIds);
  assert.equal((await storage.get(id))?.id, INT64_MAX);
});

test("memoryStorage has at most maxPets pets, and answers replays beyond", async () => {
  const storage = memoryStorage({ pets: [REX], maxPets: 2 });
  const idempotencyKey = "0".repeat(64);
  const { id } = await storage.create(REX, { idempotencyKey });
  await assert.rejects(storage.create(REX), {
    name: "StorageError",
    kind: "unavailable",
    message: "Cannot create pet: the storage in memory has as many as it may",
  });
  const again = await storage.create(REX, { idempotencyKey });
  assert.deepEqual([again.id, again.replayed], [id, true]);
  assert.equal(storage.allPets.length, 2);
});

test("storages in memory can share a maximum, and concurrent creates keep to it", async () => {
  const maxPets = () =>
    3 - all.reduce((sum, { allPets }) => sum + allPets.length, 0);
  const all = [1, 2].map((): ReturnType<typeof memoryStorage> => {
    const storage = memoryStorage({
      maxPets: () => storage.allPets.length + maxPets(),
    });
    return storage;
  });
  const creates = all.flatMap((storage) =>
    [1, 2, 3].map(() => storage.create(REX))
  );
  const results = await Promise.allSettled(creates);
  const added = results.filter(({ status }) => status === "fulfilled");
  assert.equal(added.length, 3);
});

test("memoryStorage refuses pets that are no array, or more than maxPets", () => {
  for (const pets of [7, "[]", null, { length: 0 }]) {
    assert.throws(() => memoryStorage({ pets } as object), {
      name: "TypeError",
      message: "Cannot seed pets: they must be an array of NewPet",
    }, JSON.stringify(pets));
  }
  assert.throws(() => memoryStorage({ pets: [REX, REX], maxPets: 1 }), {
    name: "RangeError",
    message:
      /^Wrong option maxPets: it must be an integer from 2 to .*, not 1$/,
  });
});
