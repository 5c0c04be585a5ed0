import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { Deadlines } from "../../../core/http/deadlines.ts";

/** How many timers keep this process alive; 0 where the runtime does not tell (Bun 1.4). */
function countTimers(): number {
  return process.getActiveResourcesInfo()
    .filter((resource) => resource === "Timeout").length;
}

function tellsTimers(): boolean {
  const before = countTimers();
  const timer = setTimeout(() => {}, 1000);
  const after = countTimers();
  clearTimeout(timer);
  return after === before + 1;
}

test("deadlines fall due in their order, each in its own time, unless stopped", async () => {
  const deadlines = new Deadlines(20);
  const late: string[] = [];
  const begin = performance.now();
  const first = deadlines.start(() => late.push("first"));
  deadlines.start(() => late.push("second"));
  deadlines.stop(first);
  await new Promise((go) => setTimeout(go, 10));
  const third = await new Promise((go) => {
    deadlines.start(() => go(performance.now()));
  });
  assert.deepEqual(late, ["second"]);
  assert.ok(Number(third) - begin >= 28, `${Number(third) - begin} ms`);
});

test("a deadline after a pause has all of its time", async () => {
  const deadlines = new Deadlines(30);
  deadlines.stop(deadlines.start(() => assert.fail("stopped")));
  await new Promise((go) => setTimeout(go, 20));
  const begin = performance.now();
  await new Promise<void>((go) => deadlines.start(go));
  assert.ok(performance.now() - begin >= 28);
});

test("deadlines that are all stopped keep no process alive", {
  skip: tellsTimers() ? false : "this runtime does not tell its timers",
}, () => {
  const before = countTimers();
  const deadlines = new Deadlines(10_000);
  for (let turn = 0; turn < 2; turn++) {
    const both = [deadlines.start(() => {}), deadlines.start(() => {})];
    assert.equal(countTimers(), before + 1);
    for (const deadline of both) deadlines.stop(deadline);
    assert.equal(countTimers(), before);
  }
});
