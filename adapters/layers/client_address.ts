/** The address that a request comes from, even behind proxies. */

import { isIP } from "node:net";
import type { ServiceRequest } from "../../core/kit.ts";

/** What a runtime passes with a request: Deno's info, Bun's server, Node's socket. */
type Connection = Partial<{
  readonly remoteAddr: { readonly hostname?: string };
  requestIP(request: ServiceRequest): { readonly address: string } | null;
  readonly remoteAddress: string;
}>;

/** Settings of {@linkcode clientAddress}. */
export interface ClientAddressOptions {
  /** How many proxies in front add their client's address to `X-Forwarded-For`. Default: none. */
  readonly proxies?: number;
}

/**
 * Returns the address of the client; without proxies, that of the connection. Each proxy adds the
 * address of its own client to the right of `X-Forwarded-For`, so the client is the entry that is
 * `proxies` from the right; entries before it may be forged. If that entry is not an IP address,
 * returns the connection's address. An IPv4 client of a dual-stack socket has its IPv4 address.
 * Empty if it is not known, because the client is gone, or because `handle(request)` was called,
 * which receives no connection.
 *
 * @example
 * ```ts
 * import { clientAddress } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const headers = { "x-forwarded-for": "6.6.6.6, 192.0.2.1" };
 * const request = new Request("http://localhost/v1/pets", { headers });
 * const socket = { remoteAddress: "10.0.0.1" };
 * assert.equal(clientAddress(request, socket), "10.0.0.1");
 * assert.equal(clientAddress(request, socket, { proxies: 1 }), "192.0.2.1");
 * ```
 *
 * @param connection what the runtime passes with a request: Deno's info, Bun's server, Node's socket.
 */
export function clientAddress(
  request: ServiceRequest,
  connection: unknown,
  { proxies = 0 }: ClientAddressOptions = {},
): string {
  if (proxies > 0) {
    const entries = request.headers.get("x-forwarded-for")?.split(",") ?? [];
    const address = withoutPort(entries.at(-proxies)?.trim() ?? "");
    if (isIP(address) !== 0) return withoutMapping(address);
  }
  const known = (connection ?? {}) as Connection;
  return withoutMapping(
    known.remoteAddr?.hostname ?? known.remoteAddress ??
      known.requestIP?.(request)?.address ?? "",
  );
}

/** Removes the port, and the brackets of an IPv6 address (RFC 7239 §6.1). */
function withoutPort(entry: string): string {
  const [, ipv6, ipv4] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(entry) ?? [];
  return ipv6 ?? ipv4 ?? entry;
}

/** Returns the IPv4 address of an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), or what it got. */
function withoutMapping(address: string): string {
  const url = `http://[${address}]`;
  if (!/:ffff:/i.test(address) || !URL.canParse(url)) return address;
  const [, ...groups] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/
    .exec(new URL(url).hostname) ?? [];
  const bytes = groups.map((group) => parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255]);
  return bytes.join(".") || address;
}

/**
 * Returns the network that one client controls: an IPv4 address, or the /64 of an IPv6 address.
 *
 * @param address as `clientAddress` returns it.
 */
export function networkOf(address: string): string {
  const [bare = ""] = address.toLowerCase().split("%"); // without a zone (RFC 4007 §11)
  if (!bare.includes(":")) return bare;
  // "::" stands for as many zeros as are missing from eight groups.
  const [start = [], end = []] = bare.split("::")
    .map((part) => part === "" ? [] : part.split(":"));
  const zeros = Array(8 - start.length - end.length).fill("0");
  return [...start, ...zeros, ...end].slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, "")).join(":");
}
