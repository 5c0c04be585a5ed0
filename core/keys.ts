/**
 * API keys: who may call, by HTTP bearer authentication (RFC 6750). Keys are compared by their SHA-256
 * digests: a near-match of digests reveals nothing about a key, so timing leaks nothing. Only valid
 * keys are remembered, in memory.
 */

import { invalidKey, missingKey, type Refusal } from "./errors.ts";
import { sha256 } from "./sha256.ts";

/** A valid key with an id, which labels it in logs and traces. */
export interface VerifiedKey {
  /** 1 to 64 UTF-16 code units, or a safe integer. It is not secret. Keys may share it. */
  readonly id: string | number;
  /**
   * Who calls: one and the same for one user over all keys, such as tokens that are refreshed, and
   * not empty. It replaces the key as what `Idempotency-Key` belongs to and `rateLimit` counts.
   */
  readonly caller?: string;
}

/** The port by which {@linkcode createHandler} checks bearer tokens. */
export interface ApiKeys {
  /**
   * Resolves to the key's id if the key is valid now, or to true if it has none; otherwise to
   * false.
   */
  verify(key: string): Promise<VerifiedKey | boolean>;
}

const MAX_REMEMBERED = 10_000;

/**
 * Accepts a fixed set of API keys, for embedding and for tests.
 *
 * @example Check a key
 * ```ts
 * import { apiKeys } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const keys = apiKeys(["secret"]);
 * assert.equal(await keys.verify("secret"), true);
 * assert.equal(await keys.verify("guess"), false);
 * ```
 *
 * @param keys the keys themselves.
 * @returns the `keys` option of `createHandler`.
 * @throws {TypeError} if there are none, as every request would be refused; if a key is not a
 * string (for example an unset variable), or cannot be sent in an `Authorization: Bearer` header:
 * it is empty, or has a character outside visible ASCII (U+0021–U+007E; RFC 9110 §5.5, §11.4).
 */
export function apiKeys(keys: readonly string[]): ApiKeys {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new TypeError("API keys must be an array of at least one key");
  }
  const wrong = keys.findIndex((key) => !isSendable(key));
  if (wrong !== -1) {
    const which = `API key ${wrong + 1} of ${keys.length}`;
    throw new TypeError(
      `${which} must be a non-empty string of visible ASCII characters, without spaces`,
    );
  }
  const unhashed = [...keys];
  // Digests are made on first use, not here: some hosts forbid asynchronous work while a module
  // loads. Until then the keys are kept, which `splice` ends.
  let digests: Promise<readonly string[]> | undefined;
  return rememberKeys(async (digest) => {
    digests ??= Promise.all(unhashed.splice(0).map(sha256));
    return (await digests).includes(digest) ? { result: true } : undefined;
  }, { maxAge: Infinity, now: () => 0 }); // reading the clock costs 3 % of a request
}

/** Accepts the keys that any of these accepts, asking one after the other. */
export function anyOf(...all: readonly ApiKeys[]): ApiKeys {
  return {
    async verify(key) {
      for (const keys of all) {
        const result = await keys.verify(key);
        if (result !== false) return result;
      }
      return false;
    },
  };
}

/** A valid key that was looked up. */
export interface FoundKey {
  /** What `verify` returns. */
  readonly result: VerifiedKey | true;
  /** Time until the key expires, in ms. Default: never. */
  readonly validFor?: number;
}

interface RememberedKey extends Pick<FoundKey, "result"> {
  readonly digest: string;
  /** By the clock `now`, in ms. */
  readonly until: number;
}

/**
 * Makes {@linkcode ApiKeys} that look up keys by their SHA-256 digests, unless `canBeKey` returns
 * false.
 *
 * A key that was found valid at most `maxAge` ms ago, and has not expired, is neither hashed nor
 * looked up again. Only valid keys are remembered, so guesses take no memory. `forget` clears all
 * of them, for example when one is revoked.
 */
export function rememberKeys(
  lookUp: (digest: string) => Promise<FoundKey | undefined>,
  { maxAge, canBeKey = () => true, now = () => performance.now() }: {
    readonly maxAge: number;
    readonly canBeKey?: (text: string) => boolean;
    readonly now?: () => number;
  },
): ApiKeys & { forget(): void } {
  let seen = new Map<string, RememberedKey>();
  return {
    async verify(key) {
      const known = seen.get(key);
      const askedAt = now();
      if (known !== undefined && askedAt < known.until) return known.result;
      // This depends on the guess alone, so its timing reveals nothing about existing keys.
      if (known === undefined && !canBeKey(key)) return false;
      const remembering = seen;
      const digest = known?.digest ?? await sha256(key);
      const found = await lookUp(digest);
      if (found === undefined) {
        remembering.delete(key); // another look-up may have added it meanwhile
        return false;
      }
      if (remembering.size >= MAX_REMEMBERED) remembering.clear();
      // forget() replaces the map, so an answer from before it is not kept.
      const { result, validFor = Infinity } = found;
      const until = askedAt + Math.min(maxAge, validFor);
      remembering.set(key, { result, digest, until });
      return result;
    },
    forget() {
      seen = new Map();
    },
  };
}

/**
 * Tells whether an `Authorization: Bearer` header can carry a key: one or more visible ASCII
 * characters.
 */
export function isSendable(key: unknown): boolean {
  return typeof key === "string" && /^[\x21-\x7e]+$/.test(key);
}

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
