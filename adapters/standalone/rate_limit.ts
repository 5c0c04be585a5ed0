/**
 * How often a caller may call: so many requests in so many seconds, counted in the memory of this
 * process.
 *
 * @module
 */

import type { Fields } from "../../core/http/reply.ts";

/** At most `requests` in `seconds`. Both are positive integers. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/**
 * Counts a request of a caller. Returns the header fields of the 429 if it is one too many: then it is
 * not counted.
 */
export type RateLimiter = (caller: string) => Fields | undefined;

/** The requests of one caller since the first of them. */
interface Window {
  readonly end: number;
  count: number;
}

const MAX_CALLERS = 100_000;

/**
 * Makes a limiter. A caller's window begins with a request and is `seconds` long; at most `requests`
 * are let through in it, and the next request after its end begins another.
 *
 * It remembers up to `maxCallers` callers: if there are more at once, those whose windows began first
 * begin anew.
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
  // Two generations, each at least a window long: when the older is dropped, all its windows are over.
  let windows = new Map<string, Window>();
  let older = windows;
  let turn = -Infinity;

  return (caller) => {
    const time = now();
    const window = windows.get(caller) ?? older.get(caller);
    if (window === undefined || time >= window.end) {
      if (time >= turn || windows.size >= maxCallers / 2) {
        older = windows;
        windows = new Map();
        turn = time + length;
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
