/**
 * API keys: who may call. The service stores no key, only the SHA-256 digest of each; a process holds
 * in memory those it has lately seen to be valid, so as not to hash them at every request.
 *
 * Time tells a guesser nothing: keys are compared by their digests, and which digest a guess comes
 * near to says nothing about the key behind it.
 *
 * @module
 */

/** The port that {@linkcode createHandler} asks whether a bearer token is a valid API key. */
export interface ApiKeys {
  /** Fulfilled with whether the key is valid now. */
  verify(key: string): Promise<boolean>;
}

/** Settings of {@linkcode rememberKeys}. */
export interface RememberKeysOptions {
  /** How long a key that was valid is taken as valid without asking again, in ms. */
  readonly maxAge: number;
  /** The time in ms, from any start. Default: a clock that is never set back. */
  readonly now?: () => number;
}

/** An {@linkcode ApiKeys} that remembers the keys it has seen to be valid. */
export interface RememberedKeys extends ApiKeys {
  /** Makes it ask again for every key, as after one is revoked. */
  forget(): void;
}

const KEY_PREFIX = "pet_";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MAX_REMEMBERED = 10_000;

/**
 * A fixed set of API keys, for embedding and for tests.
 *
 * ```ts
 * import { apiKeys } from "../../mod.ts";
 * import assert from "node:assert/strict";
 *
 * const keys = apiKeys(["correct-horse-battery-staple"]);
 * assert.equal(await keys.verify("correct-horse-battery-staple"), true);
 * assert.equal(await keys.verify("guess"), false);
 * ```
 *
 * @throws {TypeError} where a key could not be sent: it is empty or has a character outside visible
 * ASCII (U+0021–U+007E), which no `Authorization: Bearer` header carries (RFC 9110 §5.5, §11.4).
 */
export function apiKeys(keys: readonly string[]): ApiKeys {
  for (const [index, key] of keys.entries()) {
    if (!isSendable(key)) {
      throw new TypeError(
        `API key ${
          index + 1
        } of ${keys.length} must be one or more visible ASCII characters without spaces`,
      );
    }
  }
  // Digests are made on first use, not here: some runtimes forbid hashing while a module loads.
  let pending = [...keys];
  let digests: Promise<ReadonlySet<string>> | undefined;
  return rememberKeys(async (digest) => {
    digests ??= Promise.all(pending.map(digestKey)).then((all) => new Set(all));
    const known = await digests;
    pending = [];
    return known.has(digest);
  }, { maxAge: Infinity });
}

/**
 * Turns a look-up by digest into {@linkcode ApiKeys}. A key that was valid at most `maxAge` ago is
 * neither hashed nor looked up again: to hash it takes 60 to 180 times as long (`deno task bench
 * paths`). Only valid keys are remembered, so guesses take no memory.
 *
 * @param isActive whether a SHA-256 digest (64 lower-case hexadecimal digits) is of a valid key.
 */
export function rememberKeys(
  isActive: (digest: string) => Promise<boolean>,
  options: RememberKeysOptions,
): RememberedKeys {
  const { maxAge, now = () => performance.now() } = options;
  let seen = new Map<
    string,
    { readonly digest: string; readonly askedAt: number }
  >();
  return {
    async verify(key) {
      const known = seen.get(key);
      const askedAt = now();
      if (known !== undefined && askedAt - known.askedAt < maxAge) return true;
      const remembering = seen;
      const digest = known?.digest ?? await digestKey(key);
      if (!await isActive(digest)) {
        remembering.delete(key);
        return false;
      }
      if (remembering.size >= MAX_REMEMBERED) remembering.clear();
      // After forget() this is no longer the map that is read: an answer from before is not kept.
      remembering.set(key, { digest, askedAt });
      return true;
    },
    forget() {
      seen = new Map();
    },
  };
}

/** Makes a new key: `pet_`, 32 random base62 characters, and 6 more that are their CRC-32. */
export function generateKey(): string {
  const random = randomBase62(RANDOM_LENGTH);
  return KEY_PREFIX + random + checksum(random);
}

/** Tells, without any look-up, whether a text has the form of an issued key, checksum included. */
export function isIssuedForm(text: string): boolean {
  if (!/^pet_[0-9A-Za-z]{38}$/.test(text)) return false;
  const random = text.slice(KEY_PREFIX.length, -CHECKSUM_LENGTH);
  return text.endsWith(checksum(random));
}

/** The SHA-256 digest of a key's UTF-8 bytes, as 64 lower-case hexadecimal digits. */
export async function digestKey(key: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(key),
  );
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** Tells whether an `Authorization: Bearer` header can carry a key: visible ASCII, at least one. */
export function isSendable(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the greatest multiple of 62 in a byte: beyond it, some characters would be likelier.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}

/** CRC-32 (ISO 3309, as in gzip) of ASCII text, as 6 base62 digits, the greatest first. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
