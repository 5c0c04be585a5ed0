import assert from "node:assert/strict";
import { test } from "node:test";
import { grouped } from "../../../adapters/database/grouped.ts";
import { nextTask, passed } from "./pauses.ts";

/** A group whose statements are recorded, and end when the test says so. */
function recorded(options: { maxGroup?: number; maxWait?: number } = {}): {
  readonly run: (item: number) => Promise<number>;
  readonly sent: (readonly number[])[];
  readonly answer: (statement: number) => void;
  readonly close: () => Promise<void>;
} {
  const sent: (readonly number[])[] = [];
  const answers: (() => void)[] = [];
  const { run, close } = grouped({
    action: "read",
    maxGroup: 100,
    maxQueue: 100,
    maxWait: 60_000,
    maxUnderWay: 4,
    keyOf: (item: number) => item,
    sizeOf: (item) => item,
    ...options,
    send: (group) =>
      new Promise<readonly number[]>((resolve) => {
        sent.push(group);
        answers.push(() => resolve(group));
      }),
  });
  return { run, sent, answer: (statement) => answers[statement]?.(), close };
}

test("grouped sends a read that finds nothing under way at once, and gathers those behind it", async () => {
  const { run, sent, answer } = recorded();
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
  const { run, sent, answer } = recorded();
  const reads = [run(1), run(2)];
  while (sent.length === 1) await nextTask();
  reads.push(run(3), run(4));
  await nextTask();
  // Its clock counts at most 20 ms for a turn of the event loop, and 100 ms are not over.
  assert.deepEqual(sent, [[1], [2]]);
  while (sent.length === 2) await nextTask();
  assert.deepEqual(sent[2], [3, 4]);
  reads.push(run(5));
  while (sent.length === 3) await nextTask();
  reads.push(run(6));
  await passed(300);
  assert.equal(sent.length, 4, "that is as many as there are connections");
  answer(2);
  while (sent.length === 4) await nextTask();
  for (const statement of sent.keys()) answer(statement);
  await Promise.all(reads);
});

test("grouped fills groups up to their size; what is larger goes alone", async () => {
  const { run, sent, answer } = recorded({ maxGroup: 10 });
  const reads = [1, 4, 5, 6, 20, 2].map(run);
  while (sent.length < 5) {
    for (const statement of sent.keys()) answer(statement);
    await nextTask();
  }
  answer(4);
  await Promise.all(reads);
  assert.deepEqual(sent, [[1], [4, 5], [6], [20], [2]]);
});

test("grouped refuses reads while all that are under way hang, with the time to try again", async () => {
  const { run, sent, answer } = recorded({ maxWait: 60 });
  const reads = Array.from({ length: 4 }, async (_, item) => {
    for (let i = 0; i < item; i++) await passed(150);
    return run(item + 1);
  });
  while (sent.length < 4) await nextTask();
  const refusal = { name: "StorageError", kind: "unavailable", retryAfter: 1 };
  await assert.rejects(run(5), { ...refusal, message: /within 60 ms/ });
  await assert.rejects(run(6), { ...refusal, message: /longer than 60 ms/ });
  for (const statement of sent.keys()) answer(statement);
  assert.deepEqual(await Promise.all(reads), [1, 2, 3, 4]);
});

test("grouped can be closed if the last that wait are refused as too late", async () => {
  const { run, answer, close } = recorded({ maxWait: 0 });
  const first = run(1);
  const late = assert.rejects(run(2), /within 0 ms/);
  answer(0);
  await first;
  await Promise.all([close(), late]);
});
