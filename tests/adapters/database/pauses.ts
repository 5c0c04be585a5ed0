/** Lets time pass in tests of queues. */

import type { TestContext } from "node:test";

/** Resolves in another task. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Resolves after so many turns of the event loop: Node may run many timers in one. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The clock of queues, which a test moves. */
export interface StoppedClock {
  /** Moves it on by so many ms, in ticks of 20 ms. */
  pass(ms: number): Promise<void>;
  /** Tells whether a queue uses it. */
  isTicking(): boolean;
}

/** Takes the place of intervals, by which queues tell the time, until the test is over. */
export function stopClock(t: TestContext): StoppedClock {
  const ticks = new Map<number, () => void>();
  let last = 0;
  const { setInterval, clearInterval } = globalThis;
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
