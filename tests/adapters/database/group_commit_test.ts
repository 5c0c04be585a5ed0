import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type GroupCommit,
  groupCommit,
  type GroupCommitOptions,
} from "../../../adapters/database/group_commit.ts";
import { type NewPet, type Pet, petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { newPet } from "../../support/new_pet.ts";

type Batch = readonly Required<NewPet>[];

const REX: Required<NewPet> = {
  name: "Rex",
  categoryId: 1n,
  status: "available",
};

function named(name: string): Required<NewPet> {
  return { ...REX, name };
}

function stored(batch: Batch): readonly Pet[] {
  return batch.map((pet, i) => ({ id: petId(BigInt(i + 1)), ...pet }));
}

/** Makes a queue whose batches are recorded, and pass through `commit`. */
function recorded(
  commit: (batch: Batch) => Promise<readonly Pet[]>,
  options: Partial<GroupCommitOptions> = {},
): { readonly creates: GroupCommit; readonly batches: string[][] } {
  const batches: string[][] = [];
  const creates = groupCommit({
    maxBatch: 100,
    maxQueue: 100,
    maxWait: 60_000,
    ...options,
    commit(batch) {
      batches.push(batch.map((pet) => pet.name));
      return commit(batch);
    },
  });
  return { creates, batches };
}

test("groupCommit gathers creates that arrive in the same turn", async () => {
  const { creates, batches } = recorded((batch) =>
    Promise.resolve(stored(batch))
  );
  const pets = await Promise.all(
    ["a", "b", "c"].map((name) => creates.create(newPet(named(name)))),
  );
  assert.deepEqual(pets.map((pet) => pet.name), ["a", "b", "c"]);
  assert.deepEqual(batches, [["a", "b", "c"]]);
});

test("groupCommit takes no more than maxBatch at once, in order", async () => {
  const { creates, batches } = recorded(
    (batch) => Promise.resolve(stored(batch)),
    { maxBatch: 2 },
  );
  await Promise.all(
    ["a", "b", "c", "d", "e"].map((name) =>
      creates.create(newPet(named(name)))
    ),
  );
  assert.deepEqual(batches, [["a", "b"], ["c", "d"], ["e"]]);
});

test("groupCommit commits one batch at a time, and gathers meanwhile", async () => {
  const commits: (() => void)[] = [];
  const { creates, batches } = recorded((batch) =>
    new Promise((resolve) => commits.push(() => resolve(stored(batch))))
  );
  const first = creates.create(newPet(named("a")));
  while (commits.length === 0) await nextTask();
  const others = ["b", "c"].map((name) => creates.create(newPet(named(name))));
  for (let turn = 0; turn < 5; turn++) await nextTask();
  assert.deepEqual(batches, [["a"]]);
  commits[0]?.();
  await first;
  while (commits.length === 1) await nextTask();
  commits[1]?.();
  await Promise.all(others);
  assert.deepEqual(batches, [["a"], ["b", "c"]]);
});

test("groupCommit fails exactly the batch whose commit fails", async () => {
  const fault = new StorageError("outcome_unknown", "the connection died");
  let commits = 0;
  const { creates } = recorded(
    (batch) =>
      ++commits === 2 ? Promise.reject(fault) : Promise.resolve(stored(batch)),
    {
      maxBatch: 2,
    },
  );
  const outcomes = await Promise.allSettled(
    ["a", "b", "c", "d", "e"].map((name) =>
      creates.create(newPet(named(name)))
    ),
  );
  assert.deepEqual(
    outcomes.map((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.name : outcome.reason
    ),
    ["a", "b", fault, fault, "e"],
  );
});

test("groupCommit rejects a create that a commit gives no pet for", async () => {
  const { creates } = recorded(() => Promise.resolve([]));
  await assert.rejects(creates.create(newPet(REX)), /without this pet/);
});

test("groupCommit refuses creates beyond maxQueue until there is room", async () => {
  const { creates } = recorded((batch) => Promise.resolve(stored(batch)), {
    maxQueue: 2,
  });
  const accepted = [creates.create(newPet(REX)), creates.create(newPet(REX))];
  await assert.rejects(creates.create(newPet(REX)), { kind: "unavailable" });
  await Promise.all(accepted);
  await creates.create(newPet(REX));
});

test("groupCommit refuses creates that waited too long behind a batch, and goes on", async () => {
  const hanging = Promise.withResolvers<void>();
  let commits = 0;
  const { creates, batches } = recorded(async (batch) => {
    if (++commits === 1) await hanging.promise;
    return stored(batch);
  }, { maxWait: 30 });
  const first = creates.create(newPet(named("first")));
  while (commits === 0) await nextTask();
  const late = creates.create(newPet(named("late")));
  const since = performance.now();
  while (performance.now() - since < 40) await nextTask();
  const inTime = creates.create(newPet(named("in time")));
  hanging.resolve();
  await assert.rejects(late, { name: "StorageError", kind: "unavailable" });
  assert.equal((await first).name, "first");
  assert.equal((await inTime).name, "in time");
  assert.deepEqual(batches, [["first"], ["in time"]]);
});

test("groupCommit settles what it accepted before it is closed", async () => {
  const { creates, batches } = recorded(async (batch) => {
    await nextTask();
    return stored(batch);
  }, { maxBatch: 2 });
  const names = ["a", "b", "c", "d", "e"];
  const settled: string[] = [];
  for (const name of names) {
    creates.create(newPet(named(name))).then((pet) => settled.push(pet.name));
  }
  await Promise.all([creates.close(), creates.close()]);
  assert.deepEqual(settled, names);
  assert.equal(batches.length, 3);
  await assert.rejects(creates.create(newPet(REX)), { kind: "unavailable" });
  await creates.close();
});

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
