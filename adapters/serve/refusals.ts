/**
 * The refusals of a server whose requests do not reach the service.
 *
 * @module
 */

import { Refusal } from "../../core/http/refusal.ts";

/** The request is not HTTP, or not HTTP for this server. */
export const badRequest: Refusal = new Refusal(
  "bad_request",
  "Cannot read request: it is not well-formed HTTP",
);

/** The client takes this server for a proxy (RFC 9110 §9.3.6). */
export const noTunnel: Refusal = new Refusal(
  "bad_request",
  "Cannot open tunnel: this server is not a proxy",
);

/** The request did not arrive in time. */
export const requestTimeout: Refusal = new Refusal(
  "request_timeout",
  "Cannot read request: it did not arrive in time",
);

/** The header section is longer than the runtime reads. RFC 6585's 431 has no code in the contract. */
export const headerTooLarge: Refusal = new Refusal(
  "bad_request",
  "Cannot read request: its header is too large",
);
