import assert from "node:assert/strict";
import { test } from "node:test";
import { Progress } from "../../../adapters/standalone/progress.ts";

/** Erases the rest of a terminal's line. */
const ERASE = "\x1b[K";

/** A stream and a clock that the test moves. */
function instruments(terminal: { isTTY?: boolean }) {
  const written: string[] = [];
  const clock = { time: 0 };
  const progress = new Progress(
    { ...terminal, write: (text) => written.push(text) },
    () => clock.time,
  );
  return { progress, written, clock };
}

test("a plain line is written every 5 s at most", () => {
  const { progress, written, clock } = instruments({});
  progress.begin("Copying", 1000, "pets");
  for (let second = 1; second <= 10; second++) {
    clock.time = 1000 * second;
    progress.add(50);
  }
  progress.end();
  assert.deepEqual(written, [
    "Copying: 25%, 250 of 1000 pets\n",
    "Copying: 50%, 500 of 1000 pets\n",
  ]);
});

test("more than all is not shown", () => {
  const { progress, written, clock } = instruments({});
  progress.begin("Copying", 90_000, "pets");
  for (const [time, count] of [[5000, 45], [10_000, 89_955], [15_000, 9]]) {
    clock.time = time ?? 0;
    progress.add(count ?? 0);
  }
  assert.deepEqual(written, [
    "Copying: 0%, 45 of 90000 pets\n",
    "Copying: 100%, 90000 of 90000 pets\n",
    "Copying: 100%, 90000 of 90000 pets\n",
  ]);
});

test("a terminal's line is the plain one, rewritten every 0.1 s at most", () => {
  const { progress, written, clock } = instruments({ isTTY: true });
  progress.begin("Copying", 200, "pets");
  for (clock.time = 50; clock.time <= 200; clock.time += 50) progress.add(20);
  progress.end();
  assert.deepEqual(written, [
    `\rCopying: 0%, 0 of 200 pets${ERASE}`,
    `\rCopying: 20%, 40 of 200 pets${ERASE}`,
    `\rCopying: 40%, 80 of 200 pets${ERASE}`,
    `\rCopying: 40%, 80 of 200 pets${ERASE}\n`,
  ]);
});

test("a line between comes after the line that is under way", () => {
  const { progress, written } = instruments({ isTTY: true });
  progress.begin("Copying", 2, "pets");
  progress.note("Stopped");
  progress.end();
  const text = written.join("");
  assert.ok(text.endsWith(`0 of 2 pets${ERASE}\nStopped\n`), text);
});
