/** HTTP bearer authentication (RFC 6750) with an API key as the token. */

import { Refusal } from "../http/refusal.ts";
import type { VerifiedKey } from "./api_keys.ts";

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
 * Reads the id of a key from what `verify` returned for it: `undefined` if it has none.
 *
 * @throws {TypeError} if that is neither `true` nor an object with its own id: an object such as
 * `{ valid: false }` must let nobody in.
 */
export function readKeyId(result: unknown): VerifiedKey["id"] | undefined {
  if (result === true) return undefined;
  if (typeof result === "object" && Object.hasOwn(Object(result), "id")) {
    const { id } = result as { readonly id: unknown };
    if (typeof id === "string" && id !== "" && id.length <= 64) return id;
    if (typeof id === "number" && Number.isSafeInteger(id)) return id;
  }
  throw new TypeError(
    "Wrong result of keys.verify: it must be true, false, undefined, or an object with an id " +
      "that is a string of 1 to 64 characters or a safe integer",
  );
}
