/** HTTP bearer authentication (RFC 6750) with an API key as the token. */

import { Refusal } from "../http/refusal.ts";
import { isSendable } from "./api_keys.ts";

const CHALLENGE = 'Bearer realm="petstore"';

/**
 * The 401 for a request without bearer credentials: without any, or with another scheme (RFC 6750
 * §3.1).
 */
export const missingKey: Refusal = new Refusal(
  "unauthorized",
  'API key is missing: send it in the header "Authorization: Bearer <API_KEY>"',
  { "www-authenticate": CHALLENGE },
);
/** The 401 for a key that is not valid. */
export const invalidKey: Refusal = new Refusal(
  "unauthorized",
  "API key is invalid: it is unknown or revoked",
  { "www-authenticate": `${CHALLENGE}, error="invalid_token"` },
);

/**
 * Reads the token of an `Authorization` header (RFC 9110 §11.4). It may be any visible ASCII,
 * unlike the `b64token` of RFC 6750, because any such string can be configured as a key.
 */
export function parseBearer(header: string | null): string | Refusal {
  const token = header?.match(/^bearer +([^ ].*)$/is)?.[1];
  if (token === undefined) return missingKey;
  return isSendable(token) ? token : invalidKey;
}
