/** HTTP bearer authentication (RFC 6750) with an API key as the token. */

import { Refusal } from "./errors.ts";
import type { VerifiedKey } from "./keys.ts";

const CHALLENGE = 'Bearer realm="petstore"';

/** The 401 for a request with no credentials, or with those of another scheme (RFC 6750 §3.1). */
export const missingKey: Refusal = new Refusal(
  "unauthorized",
  'API key is missing: send it in the header "Authorization: Bearer <API_KEY>"',
  { "www-authenticate": CHALLENGE },
);
/** The 401 for a key that is not valid. */
export const invalidKey: Refusal = new Refusal(
  "unauthorized",
  "API key is invalid: it is unknown, expired or revoked",
  { "www-authenticate": `${CHALLENGE}, error="invalid_token"` },
);

/**
 * Reads the token of an `Authorization` header (RFC 9110 §11.4). It may be any visible ASCII,
 * unlike the `b64token` of RFC 6750, because any such string can be configured as a key.
 */
export function parseBearer(header: string | null): string | Refusal {
  const bearer = header?.match(/^bearer +(?:([\x21-\x7e]+)$|[^ ])/i);
  return bearer ? bearer[1] ?? invalidKey : missingKey;
}

/**
 * Reads what `verify` returned for a valid key.
 *
 * @throws {TypeError} if that is neither `true` nor an object with its own id: an object such as
 * `{ valid: false }` must let nobody in.
 */
export function readVerified(result: unknown): Partial<VerifiedKey> {
  if (result === true) return {};
  if (typeof result === "object" && Object.hasOwn(Object(result), "id")) {
    const { id, caller } = result as { readonly [name in string]: unknown };
    const isId = typeof id === "string"
      ? id !== "" && id.length <= 64
      : Number.isSafeInteger(id);
    if (isId && caller === undefined) return { id: id as string | number };
    // Otherwise callers that differ would have the same digest.
    if (isId && typeof caller === "string" && isWellFormed(caller)) {
      return { id: id as string | number, caller };
    }
  }
  throw new TypeError(
    "Wrong result of keys.verify: it must be true, false, undefined, or an object with an id " +
      "that is a string of 1 to 64 characters or a safe integer, and perhaps a caller that is " +
      "a well-formed string of one or more characters",
  );
}

function isWellFormed(caller: string): boolean {
  return caller !== "" && !/\p{Surrogate}/u.test(caller);
}
