import assert from "node:assert/strict";
import { test } from "node:test";
import {
  grouped,
  type GroupedOptions,
} from "../../../adapters/database/grouped.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { nextTask, passed } from "./pauses.ts";

type Options = Partial<GroupedOptions<number, number>>;

/** A queue whose groups are recorded, and end when the test says so unless it gives `send`. */
function recorded(options: Options = {}) {
  const sent: (readonly number[])[] = [];
  const answers: (() => void)[] = [];
  const {
    send = (group) =>
      new Promise<readonly number[]>((resolve) => {
        answers.push(() => resolve(group));
      }),
    ...limits
  } = options;
  const { run, close } = grouped({
    action: "read",
    maxGroup: 100,
    maxQueue: 100,
    maxWait: 60_000,
    ...limits,
    send(group) {
      sent.push(group);
      return send(group);
    },
  });
  const answer = (group: number) => answers[group]?.();
  return { run, sent, answer, close };
}

/** A queue of reads, which share a place if they are equal, and have four connections. */
const reads = (options: Options = {}) =>
  recorded({
    maxUnderWay: 4,
    keyOf: (item) => item,
    sizeOf: (item) => item,
    ...options,
  });

const atOnce: Options["send"] = (group) => Promise.resolve(group);

test("grouped sends a read that finds nothing under way at once, and gathers those behind it", async () => {
  const { run, sent, answer } = reads();
  const first = run(1);
  assert.deepEqual(sent, [[1]]);
  const others = [run(1), run(2), run(1), run(3)];
  assert.deepEqual(sent, [[1]]);
  while (sent.length === 1) await nextTask();
  // Equal ones share a place, but not that of the one that was sent before.
  assert.deepEqual(sent, [[1], [1, 2, 3]]);
  answer(0);
  answer(1);
  assert.deepEqual(await Promise.all([first, ...others]), [1, 1, 2, 1, 3]);
});

test("grouped has two groups under way, and more only while others hang", async () => {
  const { run, sent, answer } = reads();
  const answers = [run(1), run(2)];
  while (sent.length === 1) await nextTask();
  answers.push(run(3), run(4));
  await nextTask();
  // Its clock counts at most 20 ms for a turn of the event loop, and 100 ms are not over.
  assert.deepEqual(sent, [[1], [2]]);
  while (sent.length === 2) await nextTask();
  assert.deepEqual(sent[2], [3, 4]);
  answers.push(run(5));
  while (sent.length === 3) await nextTask();
  answers.push(run(6));
  await passed(300);
  assert.equal(sent.length, 4, "that is as many as there are connections");
  answer(2);
  while (sent.length === 4) await nextTask();
  for (const statement of sent.keys()) answer(statement);
  await Promise.all(answers);
});

test("grouped fills groups up to their size; what is larger goes alone", async () => {
  const { run, sent, answer } = reads({ maxGroup: 10 });
  const answers = [1, 4, 5, 6, 20, 2].map(run);
  while (sent.length < 5) {
    for (const statement of sent.keys()) answer(statement);
    await nextTask();
  }
  answer(4);
  await Promise.all(answers);
  assert.deepEqual(sent, [[1], [4, 5], [6], [20], [2]]);
});

test("grouped with one group under way gathers for a turn; a full group goes at once", async () => {
  const { run, sent } = recorded({ maxGroup: 2, send: atOnce });
  const creates = [run(1)];
  assert.deepEqual(sent, []);
  creates.push(run(2), run(3));
  assert.deepEqual(sent, [[1, 2]]);
  assert.deepEqual(await Promise.all(creates), [1, 2, 3]);
  assert.deepEqual(sent, [[1, 2], [3]]);
});

test("grouped sends one group at a time unless it is told otherwise, and gathers meanwhile", async () => {
  const { run, sent, answer } = recorded();
  const first = run(1);
  while (sent.length === 0) await nextTask();
  const others = [run(2), run(3)];
  for (let turn = 0; turn < 5; turn++) await nextTask();
  assert.deepEqual(sent, [[1]]);
  answer(0);
  await first;
  while (sent.length === 1) await nextTask();
  answer(1);
  await Promise.all(others);
  assert.deepEqual(sent, [[1], [2, 3]]);
});

test("grouped fails exactly the group that fails, and an item without a result", async () => {
  const fault = new StorageError("outcome_unknown", "the connection died");
  const { run } = recorded({
    maxGroup: 2,
    send: async (group) =>
      group.includes(3) ? Promise.reject(fault) : group.slice(0, 1),
  });
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(run));
  const told = outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value : outcome.reason
  );
  assert.match(told[1].message, /no result/);
  assert.deepEqual(told.toSpliced(1, 1), [1, fault, fault, 5]);
});

test("grouped refuses items beyond maxQueue until there is room", async () => {
  const { run } = recorded({ maxQueue: 2, send: atOnce });
  const accepted = [run(1), run(2)];
  await assert.rejects(run(3), { kind: "unavailable" });
  await Promise.all(accepted);
  await run(3);
});

test("grouped refuses items while all that are under way hang, with the time to try again, and goes on", async () => {
  for (const maxUnderWay of [1, 4]) {
    const { run, sent, answer } = reads({ maxWait: 60, maxUnderWay });
    const answers = Array.from({ length: maxUnderWay }, async (_, item) => {
      for (let i = 0; i < item; i++) await passed(150);
      return run(item + 1);
    });
    while (sent.length < maxUnderWay) await nextTask();
    const refusal = { name: "StorageError", kind: "unavailable" };
    const late = { ...refusal, retryAfter: 1, message: /within 60 ms/ };
    const atOnce = { ...refusal, retryAfter: 1, message: /longer than 60 ms/ };
    await assert.rejects(run(5), late);
    await assert.rejects(run(6), atOnce);
    for (const statement of sent.keys()) answer(statement);
    await Promise.all(answers);
    const next = run(7);
    while (sent.length === maxUnderWay) await nextTask();
    answer(maxUnderWay);
    assert.equal(await next, 7);
  }
});

test("grouped lets nothing wait for more than 2 s unless it is told otherwise", async () => {
  const hanging = Promise.withResolvers<readonly number[]>();
  const send = () => hanging.promise;
  const { run } = grouped({ action: "read", maxGroup: 1, send });
  const first = run(1);
  await assert.rejects(run(2), /did not get to it within 2000 ms/);
  hanging.resolve([1]);
  await first;
});

test("grouped refuses at once what it cannot send in time, and says for how long", async () => {
  let longest = 0;
  const { run } = recorded({
    maxGroup: 2,
    maxWait: 1100,
    maxQueue: 10_000,
    async send(group) {
      const since = performance.now();
      await passed(60);
      longest = Math.max(longest, performance.now() - since);
      return group;
    },
  });
  // Of its pace it knows nothing before the first groups are through.
  for (let i = 0; i < 20; i++) await run(i);
  let isOver = false;
  const outcomes = Array.from({ length: 400 }, async (_, i) => {
    try {
      await run(i);
      return { accepted: true };
    } catch (error) {
      assert.ok(error instanceof StorageError && error.kind === "unavailable");
      return { accepted: false, isLate: isOver, after: error.retryAfter };
    }
  });
  await nextTask();
  isOver = true;
  const all = await Promise.all(outcomes);
  // 18 groups of 2 take some 1,100 ms; a busy machine lengthens them, and its pauses hardly count.
  const accepted = all.filter((outcome) => outcome.accepted).length;
  const least = 1.5 * Math.floor(1100 / longest);
  assert.ok(accepted >= least && accepted <= 150, `${accepted}, ${longest}`);
  const atOnce = all.filter((outcome) => outcome.isLate === false);
  assert.ok(atOnce.length >= 200, `${atOnce.length} refused at once`);
  for (const { after = 0 } of atOnce) assert.ok(after >= 2, `${after}`);
});

test("grouped settles what it accepted before it is closed, and refuses the rest", async () => {
  const { run, close } = recorded({
    maxGroup: 2,
    async send(group) {
      await nextTask();
      return group;
    },
  });
  const settled: number[] = [];
  for (const item of [1, 2, 3, 4, 5]) run(item).then((it) => settled.push(it));
  await Promise.all([close(), close()]);
  assert.deepEqual(settled, [1, 2, 3, 4, 5]);
  await assert.rejects(run(6), { kind: "unavailable" });
  await close();
});

test("grouped can be closed if the last that wait are refused as too late", async () => {
  const { run, answer, close } = reads({ maxWait: 0 });
  const first = run(1);
  const late = assert.rejects(run(2), /within 0 ms/);
  answer(0);
  await first;
  await Promise.all([close(), late]);
});
