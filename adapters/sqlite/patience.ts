/**
 * Waiting for other processes that use the same SQLite file.
 *
 * `busy_timeout` stays 0, because SQLite would wait synchronously and stop the event loop (1.8 s
 * were seen). Whatever finds the file locked is tried again after a random pause instead.
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
import { isBusy } from "./fault.ts";

/** The longest pause before a locked file is tried again, in ms. */
const MAX_PAUSE = 8;

/**
 * Makes an attempt, and again while it fails because the file is locked, for at most `lockTimeout`
 * ms. Rejects with the error of the last attempt.
 */
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
