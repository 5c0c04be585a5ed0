/** Idempotency keys in groups; `grouped_test.ts` tests the groups. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Create,
  type Created,
  groupCommit,
} from "../../../adapters/database/group_commit.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../../support/new_pet.ts";

type Send = (creates: readonly Create[]) => Promise<(Created | Error)[]>;

/** Creates pets of one letter each at once; a digit behind it is the key. */
function create(send: Send, sent: readonly string[]): Promise<Created>[] {
  const creates = groupCommit({ send, maxGroup: 100 });
  return sent.map(([name = "", key]) =>
    creates.create(newPet({ ...REX, name }), key)
  );
}

test("groupCommit sends a key once, and tells the others with it what came of it", async () => {
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

test("groupCommit rejects all creates with a key whose commit fails, or gives an error for it", async () => {
  const fault = new StorageError("unavailable", "away");
  for (const send of [() => Promise.reject(fault), async () => [fault]]) {
    const creates = create(send, ["a1", "b1"]);
    for (const outcome of await Promise.allSettled(creates)) {
      assert.deepEqual(outcome, { status: "rejected", reason: fault });
    }
  }
});

test("groupCommit says that it cannot create a pet if too many wait", async () => {
  const { create } = groupCommit({
    send: async () => [],
    maxGroup: 1,
    maxQueue: 0,
  });
  await assert.rejects(
    create(REX),
    /^StorageError: Cannot create pet: 0 others/,
  );
});
