import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type GroupCommit,
  groupCommit,
} from "../../../adapters/database/group_commit.ts";
import {
  type CheckedPet,
  type NewPet,
  type Pet,
  petId,
} from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../../support/new_pet.ts";
import { nextTask, passed } from "./pauses.ts";

type Batch = readonly Required<NewPet>[];

function named(name: string): CheckedPet {
  return newPet({ ...REX, name });
}

function added(creates: GroupCommit, names: readonly string[]): Promise<Pet>[] {
  return names.map((name) => creates.create(named(name)));
}

function stored(batch: Batch): readonly Pet[] {
  return batch.map((pet, i) => ({ id: petId(BigInt(i + 1)), ...pet }));
}

/** Makes a queue whose batches are recorded, and pass through `commit`. */
function recorded(
  commit = (batch: Batch) => Promise.resolve(stored(batch)),
  options: Partial<Parameters<typeof groupCommit>[0]> = {},
): { readonly creates: GroupCommit; readonly batches: string[][] } {
  const batches: string[][] = [];
  const creates = groupCommit({
    maxGroup: 100,
    maxQueue: 100,
    maxWait: 60_000,
    ...options,
    send(creates) {
      const batch = creates.map(({ pet }) => pet);
      batches.push(batch.map((pet) => pet.name));
      return commit(batch);
    },
  });
  return { creates, batches };
}

test("groupCommit gathers creates that arrive in the same turn, in order, up to maxGroup", async () => {
  const { creates, batches } = recorded(undefined, { maxGroup: 2 });
  const names = ["a", "b", "c", "d", "e"];
  const pets = await Promise.all(added(creates, names));
  assert.deepEqual(pets.map((pet) => pet.name), names);
  assert.deepEqual(batches, [["a", "b"], ["c", "d"], ["e"]]);
});

test("groupCommit commits one batch at a time, and gathers meanwhile", async () => {
  const commits: (() => void)[] = [];
  const { creates, batches } = recorded((batch) =>
    new Promise((resolve) => commits.push(() => resolve(stored(batch))))
  );
  const first = creates.create(named("a"));
  while (commits.length === 0) await nextTask();
  const others = added(creates, ["b", "c"]);
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
    { maxGroup: 2 },
  );
  const outcomes = await Promise.allSettled(
    added(creates, ["a", "b", "c", "d", "e"]),
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
  await assert.rejects(creates.create(REX), /no result/);
});

test("groupCommit refuses creates beyond maxQueue until there is room", async () => {
  const { creates } = recorded((batch) => Promise.resolve(stored(batch)), {
    maxQueue: 2,
  });
  const accepted = [creates.create(REX), creates.create(REX)];
  await assert.rejects(creates.create(REX), { kind: "unavailable" });
  await Promise.all(accepted);
  await creates.create(REX);
});

test("groupCommit refuses creates that waited too long behind a batch, and goes on", async () => {
  const hanging = Promise.withResolvers<void>();
  let commits = 0;
  const { creates, batches } = recorded(async (batch) => {
    if (++commits === 1) await hanging.promise;
    return stored(batch);
  }, { maxWait: 30 });
  const first = creates.create(named("first"));
  while (commits === 0) await nextTask();
  const refused = assert.rejects(creates.create(named("late")), {
    name: "StorageError",
    kind: "unavailable",
  });
  // The queue's clock counts at most 20 ms for a turn of the event loop.
  for (let turn = 0; turn < 5; turn++) await passed(20);
  // One that comes now is not even let wait.
  await assert.rejects(creates.create(REX), {
    kind: "unavailable",
    message: /longer than 30 ms/,
  });
  // It does not wait for the end of the one that hangs.
  await refused;
  hanging.resolve();
  assert.equal((await first).name, "first");
  const next = await creates.create(named("next"));
  assert.equal(next.name, "next");
  assert.deepEqual(batches, [["first"], ["next"]]);
});

test("groupCommit refuses at once what it cannot write in time, and says for how long", async () => {
  const { creates } = recorded(async (batch) => {
    await passed(60);
    return stored(batch);
  }, { maxGroup: 2, maxWait: 1100, maxQueue: 10_000 });
  // Of its pace it knows nothing before the first batches are through.
  for (let i = 0; i < 20; i++) await creates.create(REX);
  let isOver = false;
  const outcomes = Array.from({ length: 400 }, async () => {
    try {
      await creates.create(REX);
      return { accepted: true };
    } catch (error) {
      assert.ok(error instanceof StorageError && error.kind === "unavailable");
      return { accepted: false, isLate: isOver, after: error.retryAfter };
    }
  });
  await nextTask();
  isOver = true;
  const all = await Promise.all(outcomes);
  // 18 batches of 2 take some 1,100 ms; pauses of this machine lengthen them.
  const accepted = all.filter((outcome) => outcome.accepted).length;
  assert.ok(accepted >= 10 && accepted <= 44, `${accepted}`);
  const atOnce = all.filter((outcome) => outcome.isLate === false);
  assert.ok(atOnce.length >= 350, `${atOnce.length} refused at once`);
  for (const { after = 0 } of atOnce) assert.ok(after >= 2, `${after}`);
});

test("groupCommit begins a full batch at once", async () => {
  const { creates, batches } = recorded(undefined, { maxGroup: 2 });
  const created = added(creates, ["a", "b", "c"]);
  assert.deepEqual(batches, [["a", "b"]]);
  await Promise.all(created);
  assert.deepEqual(batches, [["a", "b"], ["c"]]);
});

test("groupCommit commits a key that is in a batch twice once", async () => {
  const { creates, batches } = recorded();
  const pets = await Promise.all([
    creates.create(named("a"), "k"),
    creates.create(named("b")),
    creates.create(named("c"), "k"),
    creates.create(named("d"), "l"),
    creates.create(named("e"), "k"),
  ]);
  assert.deepEqual(batches, [["a", "b", "d"]]);
  assert.deepEqual(
    pets.map(({ id, name, replayed }) => [Number(id), name, replayed]),
    [
      [1, "a", undefined],
      [2, "b", undefined],
      [1, "a", true],
      [3, "d", undefined],
      [1, "a", true],
    ],
  );
});

test("groupCommit rejects all creates with a key whose commit fails, or gives an error for it", async () => {
  const fault = new StorageError("unavailable", "away");
  const commits = [() => Promise.reject(fault), async () => [fault]];
  for (const send of commits) {
    const limits = { maxGroup: 9, maxQueue: 9, maxWait: 60_000 };
    const creates = groupCommit({ send, ...limits });
    const sent = ["a", "b"].map((name) => creates.create(named(name), "k"));
    for (const outcome of await Promise.allSettled(sent)) {
      assert.deepEqual(outcome, { status: "rejected", reason: fault });
    }
  }
});

test("groupCommit settles what it accepted before it is closed", async () => {
  const { creates, batches } = recorded(async (batch) => {
    await nextTask();
    return stored(batch);
  }, { maxGroup: 2 });
  const names = ["a", "b", "c", "d", "e"];
  const settled: string[] = [];
  for (const name of names) {
    creates.create(named(name)).then((pet) => settled.push(pet.name));
  }
  await Promise.all([creates.close(), creates.close()]);
  assert.deepEqual(settled, names);
  assert.equal(batches.length, 3);
  await assert.rejects(creates.create(REX), { kind: "unavailable" });
  await creates.close();
});
