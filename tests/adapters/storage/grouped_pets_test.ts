/** Idempotency keys in groups, and overload; `grouped_test.ts` tests the groups. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Create,
  type Created,
  groupedPets,
} from "../../../adapters/storage/grouped_pets.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../../support/pets.ts";
import { stopClock } from "../../support/time.ts";

type Send = (creates: readonly Create[]) => Promise<(Created | Error)[]>;

/** Creates pets of one letter each at once; a digit behind it is the key. */
function create(send: Send, sent: readonly string[]): Promise<Created>[] {
  const none = async () => [];
  const { create } = groupedPets({
    create: send,
    get: none,
    list: none,
    reads: { maxGroup: 1 },
  });
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
    reads: { maxGroup: 200 },
  });
  await Promise.all([100, 99, 101, 1].map((limit) => list({ limit })));
  assert.deepEqual(groups, [[100, 99], [101], [1]]);
});

// At 20 ms a commit the queue fills up first, at 200 ms creates are late first.
for (const [ms, lateness] of [[20, 0], [200, 2020]] as const) {
  test(`creates at twice the load of ${ms} ms a commit wait for at most 2 s to be sent`, async (t) => {
    const { pass } = stopClock(t);
    let now = 0;
    const database = { answersAt: 0, answer() {} };
    const { create } = groupedPets({
      create: (creates) =>
        new Promise((resolve) => {
          database.answersAt = now + ms;
          const id = petId(1n);
          database.answer = () =>
            resolve(creates.map(({ pet }) => ({ id, ...pet })));
        }),
      get: async () => [],
      list: async () => [],
      reads: { maxGroup: 1 },
    });
    const waits: number[] = [];
    const refusals: number[] = [];
    const perTick = 2 * 20 * 256 / ms;
    const ticks = 300;
    for (let tick = 0; tick < ticks; tick++) {
      const since = now;
      for (let sent = 0; sent < perTick; sent++) {
        create(REX).then(
          () => waits.push(now - since),
          () => refusals.push(now - since),
        );
      }
      await pass(20);
      now += 20;
      if (now >= database.answersAt) database.answer();
    }
    assert.ok(waits.length >= 0.8 * perTick / 2 * ticks, `${waits.length}`);
    assert.ok(refusals.length >= 0.1 * perTick * ticks, `${refusals.length}`);
    const longest = (all: readonly number[]) =>
      all.reduce((most, wait) => Math.max(most, wait), 0);
    assert.ok(longest(waits) <= 2020 + ms, `${longest(waits)}`);
    assert.ok(Math.abs(longest(refusals) - lateness) <= 20);
  });
}
