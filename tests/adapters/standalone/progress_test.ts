import assert from "node:assert/strict";
import { test } from "node:test";
import { startProgress } from "../../../adapters/standalone/progress.ts";

test("a line is written every 5 s at most, and shows no more than all", () => {
  const lines: string[] = [];
  let time = 0;
  const progress = startProgress(
    "Copying pets",
    700,
    (line) => lines.push(line),
    () => time,
  );
  for (let second = 1; second <= 15; second++) {
    time = 1000 * second;
    progress(50);
  }
  assert.deepEqual(lines, [
    "Copying pets: 250 of 700",
    "Copying pets: 500 of 700",
    "Copying pets: 700 of 700",
  ]);
});
