/** What a test opens is closed by itself: after the test, whether it passes or fails, and the last first. */

import type { TestContext } from "node:test";

const closesOf = new WeakMap<TestContext, (() => unknown)[]>();

/** Has `close` called after a test, before what was opened earlier is closed; the test fails if it fails. */
export function atEnd(t: TestContext, close: () => unknown): void {
  const known = closesOf.get(t);
  if (known !== undefined) return void known.unshift(close);
  const closes = [close];
  closesOf.set(t, closes);
  // `t.after` alone would close what was opened first before what uses it.
  t.after(async () => {
    const failures: unknown[] = [];
    for (const close of closes) {
      await Promise.resolve().then(close).catch((why) => failures.push(why));
    }
    if (failures.length > 0) throw failures[0];
  });
}
