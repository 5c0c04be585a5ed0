/**
 * Who is calling: HTTP bearer authentication (RFC 6750) with an API key as the token.
 *
 * @module
 */

import { isSendable } from "./api_keys.ts";
import { ApiError } from "../http/refusal.ts";

/** The challenge where no key was sent. */
export const CHALLENGE = 'Bearer realm="petstore"';
/** The challenge where the key that was sent is not valid. */
export const INVALID_TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;

const SCHEME = "bearer ";

const missingKey = new ApiError(
  "unauthorized",
  'API key is missing: send it in the header "Authorization: Bearer <API_KEY>"',
  { "www-authenticate": CHALLENGE },
);
/** The 401 where a key was sent that is not valid. */
export const invalidKey: ApiError = new ApiError(
  "unauthorized",
  "API key is invalid: it is unknown or revoked",
  { "www-authenticate": INVALID_TOKEN_CHALLENGE },
);

/**
 * Takes the token out of an `Authorization` header: the scheme in any case, one or more spaces, the
 * token (RFC 9110 §11.4). Beyond the characters of RFC 6750's `b64token` any visible ASCII is taken,
 * since any such string can be configured as a key.
 *
 * @returns the token, or the 401: without an error code where no bearer credentials were sent at
 * all, none or another scheme's (RFC 6750 §3.1).
 */
export function parseBearer(header: string | null): string | ApiError {
  if (header === null) return missingKey;
  const isBearer = header.slice(0, SCHEME.length).toLowerCase() === SCHEME;
  let start = SCHEME.length;
  while (header[start] === " ") start++;
  if (!isBearer || start === header.length) return missingKey;
  const token = header.slice(start);
  return isSendable(token) ? token : invalidKey;
}
