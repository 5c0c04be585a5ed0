/**
 * The time, as far as the client needs it: timeouts, pauses and dates in `Retry-After`.
 *
 * @module
 */

/** A clock. Tests pass one that does not wait. */
export interface Clock {
  /** The time in ms since 1970. */
  now(): number;
  /** Calls back once, `ms` ms from now. Returns what cancels that. */
  setTimer(ms: number, callback: () => void): () => void;
}

/** The clock on the wall. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits. Rejects with the signal's reason where that aborts; leaves no timer and no listener. */
export function pause(
  ms: number,
  { clock, signal }: {
    readonly clock: Clock;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
