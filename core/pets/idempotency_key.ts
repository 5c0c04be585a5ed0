/** The header `Idempotency-Key` of `createPet` (draft-ietf-httpapi-idempotency-key-header). */

import { Refusal } from "../errors.ts";
import { sha256 } from "../sha256.ts";

/**
 * Matches the header: a String of RFC 9651 §3.3.3, in which only `"` and `\` are escaped, or the
 * bare form. Both have 1 to 255 visible ASCII characters.
 */
const KEY = /^(?:"((?:[!#-\[\]-~]|\\["\\]){1,255})"|([!#-~][!-~]{0,254}))$/;
export const KEY_PATTERN: string = KEY.source;

/** The 400 for a header that is not exactly one key. */
export const malformedKey: Refusal = new Refusal(
  "bad_request",
  "Cannot create pet: the Idempotency-Key header must be one key of 1 to 255 visible ASCII characters, such as " +
    '"8e03978e-40d5-43dd-bc93-6894a57f9324", with or without the quotes',
);

/** The 422 for a key that has already added a different pet. */
export const reusedKey: Refusal = new Refusal(
  "idempotency_key_reused",
  "Cannot create pet: its Idempotency-Key was sent before with another pet; use a new key for each pet",
);

/**
 * Reads the key of a header. The structured-field string and the bare form mean the same key. A
 * repeated header arrives joined by a comma and a space, and is refused because of the space.
 */
export function parseIdempotencyKey(header: string): string | Refusal {
  const [, quoted, bare] = KEY.exec(header) ?? [];
  return quoted?.replace(/\\(["\\])/g, "$1") ?? bare ?? malformedKey;
}

/**
 * Makes the key that a storage keeps. Each scope, an API key or a caller, has its own idempotency
 * keys, and the digest reveals neither.
 */
export async function storedKey(scope: string, key: string): Promise<string> {
  return await sha256(await sha256(scope) + key); // the first part has a fixed length
}
