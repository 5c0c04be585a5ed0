/**
 * Waits for other processes that lock the same SQLite file.
 *
 * `busy_timeout` stays 0: SQLite would block the event loop while it waits (1.8 s were seen).
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
import { isBusy } from "./fault.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;

/** Repeats an attempt while the file is locked, for at most `lockTimeout` ms. */
export async function patiently<T>(
  lockTimeout: number,
  attempt: () => T,
): Promise<T> {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await delay(Math.random() * MAX_PAUSE);
  }
}
