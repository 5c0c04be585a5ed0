/**
 * API keys: who may call. The service stores only the SHA-256 digest of each. Time tells a guesser nothing:
 * a digest that is nearly right says nothing about the key behind it.
 */

import { sha256 } from "../sha256.ts";

/** The port that {@linkcode createHandler} asks whether a bearer token is a valid API key. */
export interface ApiKeys {
  /** Resolves to whether the key is valid now. */
  verify(key: string): Promise<boolean>;
}

const MAX_REMEMBERED = 10_000;

/**
 * A fixed set of API keys, for embedding and for tests.
 *
 * @example
 * ```ts
 * import { apiKeys } from "@petstore/service";
 *
 * const isValid = await apiKeys(["secret"]).verify("secret");
 * ```
 * @throws {TypeError} if a key is no text, as an unset variable, or could not be sent: it is empty or has a character outside visible
 * ASCII (U+0021–U+007E), which no `Authorization: Bearer` header carries (RFC 9110 §5.5, §11.4).
 */
export function apiKeys(keys: readonly string[]): ApiKeys {
  if (!Array.isArray(keys)) throw new TypeError("API keys must be an array");
  const wrong = keys.findIndex((key) => !isSendable(key));
  if (wrong !== -1) {
    const which = `API key ${wrong + 1} of ${keys.length}`;
    throw new TypeError(
      `${which} must be a text of one or more visible ASCII characters without spaces`,
    );
  }
  const unhashed = [...keys];
  // Digests are made on first use, not here: Cloudflare Workers forbid asynchronous work while a module loads
  // (cloudflare/workerd#158).
  let digests: Promise<readonly string[]> | undefined;
  return rememberKeys(async (digest) => {
    digests ??= Promise.all(unhashed.splice(0).map(sha256));
    return (await digests).includes(digest);
  }, { maxAge: Infinity, now: () => 0 }); // a look at the clock costs 3 % of a request
}

/** Accepts each key that one of these accepts; they are asked in turn. */
export function anyOf(...all: readonly ApiKeys[]): ApiKeys {
  return {
    async verify(key) {
      for (const keys of all) {
        if (await keys.verify(key) === true) return true;
      }
      return false;
    },
  };
}

/**
 * Turns a look-up by SHA-256 digest into {@linkcode ApiKeys}. A key that was valid at most `maxAge` ms ago is
 * neither hashed nor looked up again. Only valid keys are remembered, so guesses take no memory; `forget`
 * forgets them all, as after one is revoked. A text that `canBeKey` refuses is not looked up.
 */
export function rememberKeys(
  isActive: (digest: string) => Promise<boolean>,
  { maxAge, canBeKey = () => true, now = () => performance.now() }: {
    readonly maxAge: number;
    readonly canBeKey?: (text: string) => boolean;
    readonly now?: () => number;
  },
): ApiKeys & { forget(): void } {
  let seen = new Map<
    string,
    { readonly digest: string; readonly askedAt: number }
  >();
  return {
    async verify(key) {
      const known = seen.get(key);
      const askedAt = now();
      if (known !== undefined && askedAt - known.askedAt < maxAge) return true;
      // This depends on the guess alone, so its timing reveals nothing about existing keys.
      if (known === undefined && !canBeKey(key)) return false;
      const remembering = seen;
      const digest = known?.digest ?? await sha256(key);
      if (!await isActive(digest)) {
        remembering.delete(key); // another look-up may have remembered it meanwhile
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

/** Tells whether an `Authorization: Bearer` header can carry a key: visible ASCII, at least one. */
export function isSendable(key: unknown): boolean {
  return typeof key === "string" && /^[\x21-\x7e]+$/.test(key);
}
