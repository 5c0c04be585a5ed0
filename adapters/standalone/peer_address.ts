/**
 * Where a request comes from, as the runtime tells it.
 *
 * @module
 */

import type { ServiceRequest } from "../../core/operation.ts";

/** What the runtimes hand over with a request, as far as it is used. */
interface Connection {
  /** Deno's `ServeHandlerInfo`. */
  readonly remoteAddr?: { readonly hostname?: string };
  /** Bun's `Server`. */
  readonly requestIP?: (
    request: ServiceRequest,
  ) => { readonly address: string } | null;
  /** Node's socket. */
  readonly remoteAddress?: string;
}

/**
 * The peer's IPv4 address, or the /64 of its IPv6 address: whoever has one address of it has them all.
 * Empty if the runtime knows none, as after the client is gone.
 */
export function peerAddress(
  request: ServiceRequest,
  connection: unknown,
): string {
  const known = connection as Connection;
  const address = known.remoteAddr?.hostname ?? known.remoteAddress ??
    known.requestIP?.(request)?.address ?? "";
  // A socket for both families writes IPv4 as ::ffff:192.0.2.1.
  const ipv4 = /^(?:::ffff:)?([\d.]*)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  // "::" takes the place of as many zeros as are missing to eight groups.
  const [start = [], end = []] = address.split("::")
    .map((part) => part === "" ? [] : part.split(":"));
  const zeros = Array(Math.max(0, 8 - start.length - end.length)).fill("0");
  return [...start, ...zeros, ...end].slice(0, 4).join(":");
}
