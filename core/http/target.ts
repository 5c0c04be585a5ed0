/** The target of a request: its path and its query. */

import type { ServiceRequest } from "../answer.ts";
import {
  malformedHost,
  malformedTarget,
  noTunnel,
  type Refusal,
} from "../errors.ts";
import { URL_PARTS } from "../runtimes.ts";

/** The path and the query of a request as they were sent, still percent-encoded. */
export interface Target {
  /** Begins with `/`; everything before the first `?`. */
  readonly path: string;
  /** Everything after the first `?`; may be empty. */
  readonly query: string;
}

const HOST =
  /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]*)?$/;

/**
 * Tells whether a `Host` is `uri-host [ ":" port ]` (RFC 9110 §7.2 and RFC 3986 §3.2.2), without
 * IPvFuture.
 */
export function isHost(text: string): boolean {
  return HOST.test(text);
}

/**
 * Reads path and query from `request.url`, after checking the `Host`, of which the URL may be made
 * (RFC 9112 §3.2 requires a 400).
 */
export function parseTarget(request: ServiceRequest): Target | Refusal {
  if (request.method === "CONNECT") return noTunnel;
  const host = request.headers.get("host");
  if (host !== null && !isHost(host)) return malformedHost;
  return readUrl(request) ?? malformedTarget;
}

/** Tells whether the path of a request, whatever its `Host`, is below another one such as `/v1`. */
export function isBelow(request: ServiceRequest, path: string): boolean {
  const sent = readUrl(request)?.path ?? "";
  return normalizePath(sent).startsWith(`${path}/`);
}

function readUrl(request: ServiceRequest): Target | undefined {
  try {
    const [, path, query = ""] = URL_PARTS.exec(request.url) ?? [];
    return path === undefined ? undefined : { path, query };
  } catch {
    return undefined; // the runtime cannot make a URL of it
  }
}

/**
 * Decodes percent-encoded unreserved characters, once: with and without them it is the same path
 * (RFC 3986 §6.2.2.2). Everything else stays as it was sent.
 */
export function normalizePath(path: string): string {
  return path.replace(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : encoded;
  });
}
