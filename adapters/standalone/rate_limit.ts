/**
 * How often a caller may call, counted in the memory of this process.
 *
 * @module
 */

import type { Fields } from "../../core/http/reply.ts";

/** At most `requests` in `seconds`. Both are positive integers. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** Counts a request of a caller; if it is one too many, returns the header fields of the 429. */
export type RateLimiter = (caller: string) => Fields | undefined;

/** The requests of one caller since the first of them. */
interface Window {
  readonly end: number;
  count: number;
}

const MAX_CALLERS = 100_000;

/**
 * Makes a limiter. A caller's window begins with a request and is `seconds` long; the next request after
 * its end begins another. Up to `maxCallers` are remembered: if more than half as many begin a window in
 * one window's time, those who began first may begin anew.
 *
 * The fields are those of draft-ietf-httpapi-ratelimit-headers-10, and `Retry-After`.
 */
export function createRateLimiter(
  { requests, seconds }: RateLimit,
  { now = () => performance.now(), maxCallers = MAX_CALLERS }: {
    /** The time in ms, from any start. */
    readonly now?: () => number;
    readonly maxCallers?: number;
  } = {},
): RateLimiter {
  const length = seconds * 1000;
  const policy = `"default";q=${requests};w=${seconds}`;
  // Two generations: the older one is dropped when the other is half of what may be remembered.
  let windows = new Map<string, Window>();
  let older = windows;

  return (caller) => {
    const time = now();
    const window = windows.get(caller) ?? older.get(caller);
    if (window === undefined || time >= window.end) {
      if (windows.size >= maxCallers / 2) {
        older = windows;
        windows = new Map();
      }
      windows.set(caller, { end: time + length, count: 1 });
      return undefined;
    }
    if (window.count < requests) {
      window.count++;
      return undefined;
    }
    const wait = String(Math.ceil((window.end - time) / 1000));
    return {
      "retry-after": wait,
      "ratelimit-policy": policy,
      "ratelimit": `"default";r=0;t=${wait}`,
    };
  };
}
