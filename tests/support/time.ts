/** Time: waiting for other processes, and clocks that a test moves. */

import type { TestContext } from "node:test";

/**
 * Checks a condition every 10 ms until it is true; rejects if it is not within `timeout` ms (by
 * default, two minutes, which is enough for the busiest machine).
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeout = 120_000,
): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!await isSo()) {
    if (performance.now() > deadline) {
      throw new Error(`Not within ${timeout} ms: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Returns a promise that is awaited later. If it is rejected before, that does not end the file of
 * the test, as an unhandled rejection does.
 */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/**
 * Resolves in another task, once what was to run at the end of this turn has run: on a busy machine a
 * timer may run before it.
 */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), 0));
}

/** Resolves after this many turns of the event loop: Node may run many timers in one. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The clock of queues, which a test moves. */
export interface StoppedClock {
  /** Advances it by this many ms, in ticks of 20 ms. */
  pass(ms: number): Promise<void>;
  /** Tells whether a queue uses it. */
  isTicking(): boolean;
}

const { setInterval, clearInterval } = globalThis;

/** Replaces intervals, by which queues tell the time, until the test is over. */
export function stopClock(t: TestContext): StoppedClock {
  const ticks = new Map<number, () => void>();
  let last = 0;
  Object.assign(globalThis, {
    setInterval(tick: () => void) {
      ticks.set(++last, tick);
      return last;
    },
    clearInterval(id: number) {
      if (!ticks.delete(id)) clearInterval(id); // that of an earlier test
    },
  });
  t.after(() => void Object.assign(globalThis, { setInterval, clearInterval }));
  return {
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 20) {
        for (const tick of ticks.values()) tick();
        await turns();
      }
    },
    isTicking: () => ticks.size > 0,
  };
}
