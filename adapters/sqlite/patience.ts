/**
 * Waits for other processes that use the same SQLite file.
 *
 * `busy_timeout` stays 0: SQLite would stop the event loop while it waits (1.8 s were seen). Instead,
 * whatever finds the file locked is tried again after a random pause.
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
import { isBusy } from "./fault.ts";

/** The longest pause before a locked file is tried again, in ms. */
const MAX_PAUSE = 8;

/** Tries again while the file is locked, for at most `lockTimeout` ms; rejects with the last error. */
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
