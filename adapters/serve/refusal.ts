/**
 * The answers that an adapter gives by itself, where no handler was or can be asked. Their body is
 * an Error of the contract.
 *
 * @module
 */

import type { ErrorCode } from "../../core/http/refusal.ts";

/** An answer whose every byte is known beforehand. */
export interface Refusal {
  /** HTTP status code. */
  readonly status: number;
  /** Reason phrase (RFC 9110 §15). */
  readonly reason: string;
  /** JSON text, all ASCII: as many bytes as characters. */
  readonly body: string;
  /** Header fields beside those of every refusal; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The request is not HTTP, or not HTTP for this server. */
export const BAD_REQUEST: Refusal = refusal(
  400,
  "Bad Request",
  "bad_request",
  "Cannot read request: it is not well-formed HTTP",
);

/** Someone takes this server for a proxy (RFC 9110 §9.3.6). */
export const NO_TUNNEL: Refusal = refusal(
  400,
  "Bad Request",
  "bad_request",
  "Cannot open tunnel: this server is not a proxy",
);

/** The request did not arrive in time. */
export const REQUEST_TIMEOUT: Refusal = refusal(
  408,
  "Request Timeout",
  "request_timeout",
  "Cannot read request: it did not arrive in time",
);

/** The header section is longer than the runtime reads. RFC 6585's 431 has no code in the contract. */
export const HEADER_TOO_LARGE: Refusal = refusal(
  400,
  "Bad Request",
  "bad_request",
  "Cannot read request: its header is too large",
);

/** The handler threw, or returned something that is no response. */
export const INTERNAL_ERROR: Refusal = refusal(
  500,
  "Internal Server Error",
  "internal_error",
  "Cannot answer request: something unexpected happened",
);

/** The server is being closed. `Connection: close` goes with it, so that the client asks another. */
export const CLOSING: Refusal = refusal(
  503,
  "Service Unavailable",
  "service_unavailable",
  "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again",
  { "retry-after": "1", "connection": "close" },
);

/** The header fields of a refusal, as names and values in turn. */
export function refusalFields(refusal: Refusal): string[] {
  return [
    "content-type",
    "application/json",
    "content-length",
    String(refusal.body.length),
    "x-content-type-options",
    "nosniff",
    "cache-control",
    "no-store",
    ...Object.entries(refusal.headers).flat(),
  ];
}

/** A refusal as a `Response`. */
export function refusalResponse(refusal: Refusal): Response {
  return new Response(refusal.body, {
    status: refusal.status,
    headers: {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      ...refusal.headers,
    },
  });
}

function refusal(
  status: number,
  reason: string,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return {
    status,
    reason,
    body: JSON.stringify({ code, message, status }),
    headers,
  };
}
