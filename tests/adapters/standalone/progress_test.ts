import assert from "node:assert/strict";
import { test } from "node:test";
import { Progress } from "../../../adapters/standalone/progress.ts";

/** Erases the rest of a terminal's line. */
const ERASE = "\x1b[K";

/** A stream and a clock that the test moves. */
function instruments(terminal: { isTTY?: boolean; columns?: number }) {
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
  progress.begin({ doing: "Copying", what: "pets", total: 1000 });
  for (let second = 1; second <= 10; second++) {
    clock.time = 1000 * second;
    progress.add(50);
  }
  progress.end();
  assert.deepEqual(written, [
    "Copying: 25%, 250 of 1000 pets, 50/s, 15 s left\n",
    "Copying: 50%, 500 of 1000 pets, 50/s, 10 s left\n",
  ]);
});

test("what was done before counts in the bar, and not in the pace", () => {
  const { progress, written, clock } = instruments({});
  progress.begin({
    doing: "Copying",
    what: "pets",
    total: 90_000,
    before: 80_000,
  });
  clock.time = 5000;
  progress.add(5);
  assert.deepEqual(written, [
    "Copying: 88%, 80005 of 90000 pets, 1/s, 2 h 47 min left\n",
  ]);
});

test("a terminal's line is never longer than the terminal is wide", () => {
  for (let columns = 10; columns < 200; columns++) {
    const { progress, written, clock } = instruments({ isTTY: true, columns });
    progress.begin({ doing: "Verifying", what: "pets", total: 12_345_678 });
    for (let step = 1; step <= 10; step++) {
      clock.time += 1000;
      progress.add(1_234_567);
      const line = (written.at(-1) ?? "").replace("\r", "").replace(ERASE, "");
      assert.ok(line.length < columns, line);
      const [bar] = /\[[#-]*\]/.exec(line) ?? [];
      if (columns > 23) assert.equal(bar?.length, 12, line);
    }
  }
});

test("a line between comes after the line that is under way", () => {
  const { progress, written } = instruments({ isTTY: true });
  progress.begin({ doing: "Copying", what: "pets", total: 2 });
  progress.note("Stopped");
  progress.end();
  const text = written.join("");
  assert.ok(text.endsWith(`0 of 2 pets${ERASE}\nStopped\n`), text);
});
