/** Closes what a test opens after the test, whether it passes or fails, last first. */

import type { TestContext } from "node:test";

const closesOf = new WeakMap<TestContext, (() => unknown)[]>();

/**
 * Calls `close` after a test, before what was opened earlier is closed. The test fails if that
 * fails.
 */
export function atEnd(t: TestContext, close: () => unknown): void {
  const known = closesOf.get(t);
  if (known !== undefined) return void known.unshift(close);
  const closes = [close];
  closesOf.set(t, closes);
  // `t.after` alone would close first what was opened first, before what uses it.
  t.after(async () => {
    const failures: unknown[] = [];
    for (const close of closes) {
      await Promise.resolve().then(close).catch((why) => failures.push(why));
    }
    if (failures.length > 0) throw failures[0];
  });
}
