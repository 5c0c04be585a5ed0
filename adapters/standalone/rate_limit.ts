/** How often a caller may call, counted in the memory of this process, and who the caller is. */

import type { ServiceRequest } from "../../core/operation.ts";
import type { Fields } from "../../core/http/reply.ts";

/** At most `requests` in `seconds`. Both are positive integers. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** Counts a request of a caller; if it is one too many, returns the header fields of the 429. */
export type RateLimiter = (caller: string) => Fields | undefined;

/**
 * Makes a limiter. A caller's window begins with a request and is `seconds` long; the next request after
 * its end begins another. Up to `maxCallers` are remembered: if more than half as many begin a window in
 * one window's time, those who began first may begin anew.
 *
 * The fields are those of draft-ietf-httpapi-ratelimit-headers-10, and `Retry-After`.
 */
export function createRateLimiter(
  { requests, seconds }: RateLimit,
  { now = () => performance.now(), maxCallers = 100_000 }: {
    /** The time in ms, from any start. */
    readonly now?: () => number;
    readonly maxCallers?: number;
  } = {},
): RateLimiter {
  const length = seconds * 1000;
  const policy = `"default";q=${requests};w=${seconds}`;
  // Two generations: the older one is dropped when the other is half of what may be remembered.
  let windows = new Map<string, { readonly end: number; count: number }>();
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

/** What a runtime hands over with a request: Deno its info, Bun its server, Node the socket. */
type Connection = Partial<{
  readonly remoteAddr: { readonly hostname?: string };
  requestIP(request: ServiceRequest): { readonly address: string } | null;
  readonly remoteAddress: string;
}>;

/**
 * The peer's IPv4 address, or the /64 of its IPv6 address, all of which belongs to one client. Empty if
 * the runtime does not know, as after the client is gone.
 */
export function peerAddress(
  request: ServiceRequest,
  connection: unknown,
): string {
  const known = (connection ?? {}) as Connection;
  const address = known.remoteAddr?.hostname ?? known.remoteAddress ??
    known.requestIP?.(request)?.address ?? "";
  // A socket for both families writes IPv4 as ::ffff:192.0.2.1.
  const ipv4 = /^(?:::ffff:)?([\d.]*)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  // "::" stands for the zeros that are missing to eight groups.
  const [start = [], end = []] = address.split("::")
    .map((part) => part === "" ? [] : part.split(":"));
  const zeros = Array(Math.max(0, 8 - start.length - end.length)).fill("0");
  return [...start, ...zeros, ...end].slice(0, 4).join(":");
}
