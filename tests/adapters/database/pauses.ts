/** Lets time pass in tests of queues, whose own clocks count turns of the event loop. */

/** Resolves in the next turn of the event loop. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Resolves after so many ms, with many turns of the event loop between. */
export async function passed(ms: number): Promise<void> {
  const since = performance.now();
  while (performance.now() - since < ms) await nextTask();
}
