/** Rate limits, counted in the memory of this process, by key and by address. */

import {
  checkIntegers,
  checkNames,
  type Layer,
  type RateLimitResult,
  tooManyRequests,
  withFields,
} from "../../core/kit.ts";
import { clientAddress, networkOf } from "./client_address.ts";
import { placed, type PlacedLayer } from "./order.ts";

/** Settings of {@linkcode createRateLimit}. */
export interface RateLimitOptions {
  /** How many requests a caller may send in a window, at least 1. */
  readonly requests: number;
  /** How long a window is, in whole seconds, at least 1. */
  readonly seconds: number;
  /** How many proxies are in front: see {@linkcode clientAddress}. Default: none. */
  readonly proxies?: number;
  /**
   * How many keys, and how many addresses, are remembered. If more than half that many start a
   * window at once, the oldest may be reset early. Default: 100,000.
   */
  readonly maxCallers?: number;
}

/** What {@linkcode createRateLimit} makes. Pass both. */
export interface RateLimit {
  /** Counts the requests of each valid key: the option `rateLimit` of `createHandler`. */
  readonly byKey: (caller: string) => RateLimitResult;
  /**
   * Counts the requests without a valid key by the address of the client, an IPv6 address by its
   * /64, and turns a 401 over the limit into a 429. All whose address is not known count as one.
   */
  readonly byAddress: PlacedLayer;
}

/**
 * Makes a limit of requests, with the fields of draft-ietf-httpapi-ratelimit-headers-10 and
 * `Retry-After`. A caller's window begins with a request. A 429 does not count, and a key's limit
 * holds in this process: with several, a caller may send as many requests to each.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { createRateLimit } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const limit = createRateLimit({ requests: 1, seconds: 60 });
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   rateLimit: limit.byKey,
 *   layers: [limit.byAddress],
 * });
 * const statuses: number[] = [];
 * for (const key of ["secret", "secret", "wrong", "wrong"]) {
 *   const headers = { authorization: `Bearer ${key}` };
 *   const response = await handle(new Request("http://localhost/v1/pets", { headers }));
 *   statuses.push(response.status);
 * }
 * assert.deepEqual(statuses, [200, 429, 401, 429]);
 * ```
 *
 * @throws {TypeError} if an option is unknown.
 * @throws {RangeError} if a number is out of bounds.
 */
export function createRateLimit(options: RateLimitOptions): RateLimit {
  const names = ["requests", "seconds", "proxies", "maxCallers"];
  checkNames(options, names, "createRateLimit");
  const { requests, seconds, proxies = 0, maxCallers = 100_000 } = options;
  checkIntegers({ requests, seconds, maxCallers }, 1);
  checkIntegers({ proxies }, 0);
  const policy = { requests, seconds, maxCallers };
  return {
    byKey: createLimiter("key", policy),
    byAddress: limitAddresses(createLimiter("address", policy), proxies),
  };
}

/**
 * Makes the function that counts a request of a caller.
 *
 * @param now the time in ms, from any start.
 */
export function createLimiter(
  policy: string,
  { requests, seconds, maxCallers }: Required<
    Omit<RateLimitOptions, "proxies">
  >,
  now: () => number = () => performance.now(),
): (caller: string) => Required<RateLimitResult> {
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

function limitAddresses(
  limit: ReturnType<typeof createLimiter>,
  proxies: number,
): PlacedLayer {
  const layer: Layer = (service) => async (request, connection, readBody) => {
    const answer = await service(request, connection, readBody);
    if (answer.status !== 401) return answer;
    const { allowed, headers } = limit(
      networkOf(clientAddress(request, connection, { proxies })),
    );
    if (allowed) return withFields(answer, headers);
    // The challenge stays, because with a valid key there would be no 429.
    const fields = { ...answer.headers, ...headers };
    return { ...withFields(tooManyRequests, fields), route: answer.route };
  };
  return placed("limits", layer);
}
