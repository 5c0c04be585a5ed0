/** Rate limits, counted in the memory of this process, by key and by address. */

import {
  type Layer,
  type RateLimitResult,
  tooManyRequests,
  withFields,
} from "../../core/kit.ts";
import { clientAddress, networkOf } from "./client_address.ts";

/** At most `requests` in `seconds`. Both are positive integers. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export type RateLimiter = (caller: string) => Required<RateLimitResult>;

/**
 * Makes a limiter, which returns the fields of draft-ietf-httpapi-ratelimit-headers-10, and
 * `Retry-After`. A caller's window begins with a request. Up to `maxCallers` are remembered: if
 * more than half that many start a window at once, the oldest may be reset early.
 */
export function createRateLimiter(
  policy: string,
  { requests, seconds }: RateLimit,
  { now = () => performance.now(), maxCallers = 100_000 }: {
    /** The time in ms, from any start. */
    readonly now?: () => number;
    readonly maxCallers?: number;
  } = {},
): RateLimiter {
  const length = seconds * 1000;
  // Two generations: the older one is dropped when the newer one has half of `maxCallers`.
  let windows = new Map<string, { readonly end: number; count: number }>();
  let older = windows;

  return (caller) => {
    const time = Math.round(now()); // with a fraction, `end - time` could exceed `length`
    let window = windows.get(caller) ?? older.get(caller);
    if (window === undefined || time >= window.end) {
      if (windows.size >= maxCallers / 2) {
        older = windows;
        windows = new Map();
      }
      window = { end: time + length, count: 0 };
      windows.set(caller, window);
    }
    const allowed = window.count < requests;
    if (allowed) window.count++;
    const wait = String(Math.ceil((window.end - time) / 1000));
    const headers = {
      "ratelimit-policy": `"${policy}";q=${requests};w=${seconds}`,
      "ratelimit": `"${policy}";r=${requests - window.count};t=${wait}`,
      ...!allowed && { "retry-after": wait },
    };
    return { allowed, headers };
  };
}

/**
 * Makes the layer that counts requests without a valid key, and turns a 401 over the limit into a
 * 429.
 *
 * @param proxies how many are in front: see `clientAddress`.
 */
export function limitAddressLayer(limit: RateLimiter, proxies: number): Layer {
  return (service) => async (request, connection, readBody) => {
    const answer = await service(request, connection, readBody);
    if (answer.status !== 401) return answer;
    const { allowed, headers } = limit(
      networkOf(clientAddress(request, connection, proxies)),
    );
    if (allowed) return withFields(answer, headers);
    // The challenge stays, because with a valid key there would be no 429.
    const fields = { ...answer.headers, ...headers };
    return { ...withFields(tooManyRequests, fields), route: answer.route };
  };
}
