/**
 * The address that a request comes from.
 *
 * @module
 */

import type { ServiceRequest } from "../../core/operation.ts";

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
