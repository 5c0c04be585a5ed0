/** Creates and pages in groups, and idempotency keys; `grouped_test.ts` tests the groups. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Create,
  Created,
} from "../../../adapters/storage/group_storage.ts";
import { groupedPets } from "../../../adapters/storage/grouped_pets.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../../support/pets.ts";

type Send = (creates: readonly Create[]) => Promise<(Created | Error)[]>;

/** Creates pets of one letter each at once; a digit behind it is the key. */
function create(send: Send, sent: readonly string[]): Promise<Created>[] {
  const none = async () => [];
  const { create } = groupedPets({
    create: send,
    get: none,
    list: none,
  }, { maxGroup: 1 });
  return sent.map(([name = "", key]) => {
    const options = key === undefined ? {} : { idempotencyKey: key };
    return create(newPet({ ...REX, name }), options);
  });
}

test("groupedPets sends a key once, and tells the others with it what came of it", async () => {
  const batches: string[][] = [];
  const pets = create(async (creates) => {
    batches.push(creates.map(({ pet }) => pet.name));
    return creates.map(({ pet }, i) => ({ id: petId(BigInt(i + 1)), ...pet }));
  }, ["a1", "b", "c1", "d2", "e1"]);
  const told = (await Promise.all(pets))
    .map(({ id, name, replayed }) => [Number(id), name, replayed]);
  assert.deepEqual(batches, [["a", "b", "d"]]);
  assert.deepEqual(told, [
    [1, "a", undefined],
    [2, "b", undefined],
    [1, "a", true],
    [3, "d", undefined],
    [1, "a", true],
  ]);
});

test("groupedPets rejects all creates with a key whose commit fails", async () => {
  const fault = new StorageError("unavailable", "away");
  for (const send of [() => Promise.reject(fault), async () => [fault]]) {
    const creates = create(send, ["a1", "b1"]);
    for (const outcome of await Promise.allSettled(creates)) {
      assert.deepEqual(outcome, { status: "rejected", reason: fault });
    }
  }
});

test("groupedPets reads pages of up to 100 pets together, and a larger one alone", async () => {
  const groups: number[][] = [];
  const none = async () => [];
  const { list } = groupedPets({
    create: none,
    get: none,
    async list(pages) {
      groups.push(pages.map(({ limit }) => limit));
      return pages.map(() => ({ pets: [] }));
    },
  }, { maxGroup: 200 });
  await Promise.all([100, 99, 101, 1].map((limit) => {
    const query = { limit };
    const page = list(query);
    query.limit = 7; // too late
    return page;
  }));
  assert.deepEqual(groups, [[100, 99], [101], [1]]);
});

test("groupedPets sends up to 256 creates together", async () => {
  const sizes: number[] = [];
  const pets = create(async (creates) => {
    sizes.push(creates.length);
    return creates.map(({ pet }) => ({ id: petId(1n), ...pet }));
  }, Array(300).fill("a"));
  await Promise.all(pets);
  assert.deepEqual(sizes, [256, 44]);
});
