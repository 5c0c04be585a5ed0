/** The header `Idempotency-Key` of `createPet` (draft-ietf-httpapi-idempotency-key-header). */

import { sha256 } from "../sha256.ts";

/**
 * Matches the header: a String of RFC 9651 §3.3.3, in which only `"` and `\` are escaped, or the
 * bare form. Both have 1 to 255 visible ASCII characters.
 */
const KEY = /^(?:"((?:[!#-\[\]-~]|\\["\\]){1,255})"|([!#-~][!-~]{0,254}))$/;
export const KEY_PATTERN: string = KEY.source;

/**
 * Reads the key of a header; `undefined` if it is not exactly one key. The structured-field string
 * and the bare form mean the same key. A repeated header arrives joined by a comma and a space, and
 * is refused because of the space.
 */
export function parseIdempotencyKey(header: string): string | undefined {
  const [, quoted, bare] = KEY.exec(header) ?? [];
  return quoted?.replace(/\\(["\\])/g, "$1") ?? bare;
}

/**
 * Makes the key that a storage keeps. Each scope, an API key or a caller, has its own idempotency
 * keys, and the digest reveals neither.
 */
export async function idempotencyDigest(
  scope: string,
  key: string,
): Promise<string> {
  return await sha256(await sha256(scope) + key); // the first part has a fixed length
}
