/** Lets time pass in tests of queues. */

import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

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

/**
 * Stops the clock, far in the future. The function that it resolves to moves it on by so many ms in such steps; after each,
 * a queue with something under way looks at it.
 */
export async function stopClock(
  t: TestContext,
): Promise<(ms: number, step?: number) => Promise<void>> {
  await delay(50); // the queues of earlier tests have stopped looking
  let time = 1e9;
  const { mock } = t.mock.method(performance, "now", () => time);
  return async (ms, step = 20) => {
    const end = time + ms;
    while (time < end) {
      time = Math.min(time + step, end);
      const looks = mock.callCount();
      while (mock.callCount() === looks) await nextTask();
    }
  };
}
