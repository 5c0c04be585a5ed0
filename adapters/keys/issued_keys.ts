/** API keys that the service issues itself. An adapter stores their records. */

import type { ApiKeyRecord, ApiKeyStorage } from "../../core/storage.ts";
import {
  type ApiKeys,
  checkFunction,
  checkNames,
  type FoundKey,
  nameProblem,
  rememberKeys,
  report,
  sha256,
} from "../../core/kit.ts";
import { generateKey, isIssuedForm } from "./key_form.ts";

/** A key that was just issued, and its record. */
export interface IssuedKey {
  /** The key itself, which is not stored. */
  readonly key: string;
  /** The record that is stored. */
  readonly record: ApiKeyRecord;
}

/** Issues, lists, revokes and verifies keys. */
export interface IssuedKeys extends ApiKeys, Pick<ApiKeyStorage, "list"> {
  /**
   * Issues a key. Only the result contains the key itself.
   *
   * @param name the purpose or owner of the key, by the rules of a pet's name.
   * @param options `expires` is when the key expires. Default: never.
   * @throws {RangeError} if the name breaks those rules, or `expires` is not in the future.
   * @throws {TypeError} if the storage cannot keep `expires`: it has no {@linkcode
   * ApiKeyStorage.markUsed}.
   */
  issue(
    name: string,
    options?: { readonly expires?: Date },
  ): Promise<IssuedKey>;
  /** Issues the very first key. Returns `undefined` if a key was ever issued. */
  issueFirst(name: string): Promise<IssuedKey | undefined>;
  /**
   * Revokes a key: at once in this process, within a second in others.
   *
   * @param idOrKey the id of the key, or the key itself.
   * @returns the record; `undefined` if it is not found.
   * @throws {TypeError} for the key itself if the storage has no {@linkcode ApiKeyStorage.find}.
   */
  revoke(idOrKey: number | string): Promise<ApiKeyRecord | undefined>;
  /**
   * Writes on which day keys were used, as far as that is not written. Call it before the storage
   * is closed, and in Workers after each request (`ctx.waitUntil(keys.flush())`), which may drop
   * what outlives it. It never rejects, but takes as long as the storage.
   */
  flush(): Promise<void>;
}

/** In ms. */
const MINUTE = 60_000;
const DAY = 86_400_000;

/** After this time, in ms, a write counts as dropped: Workers drop what outlives its request. */
const LONGEST_WRITE = 5 * MINUTE;

/** How long a process may still accept a key that another process revoked, in ms. */
export const REVOCATION_DELAY = 1000;

/**
 * Issues, lists, revokes and verifies keys whose records are stored. `verify` returns the id of a
 * valid key. The first `verify` of a minute records which keys were used in the last one, once a
 * day for each key; no request waits for that.
 *
 * @example Issue a key and revoke it
 * ```ts
 * import { issuedKeys, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const keys = issuedKeys(memoryStorage().apiKeys);
 * const { key, record } = await keys.issue("mobile app");
 * assert.deepEqual(await keys.verify(key), { id: record.id });
 *
 * await keys.revoke(record.id);
 * assert.equal(await keys.verify(key), false);
 * ```
 *
 * @param storage the `apiKeys` of a storage, or your own.
 * @param options `onError` receives the error if the use of keys cannot be recorded, which is tried
 * again on the next day. Default: `console.error`.
 * @returns the `keys` option of `createHandler`, which can also issue, list and revoke.
 */
export function issuedKeys(
  storage: ApiKeyStorage,
  options: { readonly onError?: (error: unknown) => void } = {},
): IssuedKeys {
  // A likely mistake: a storage of pets has that of keys as a member.
  const { isActive, apiKeys } = Object(storage) as ApiKeyStorage & {
    readonly apiKeys?: unknown;
  };
  if (typeof isActive !== "function") {
    const hint = apiKeys === undefined ? "" : "; pass storage.apiKeys";
    throw new TypeError(
      `Wrong storage: issuedKeys needs one of API keys, with a method isActive${hint}`,
    );
  }
  checkNames(options, ["onError"], "issuedKeys");
  const { onError = console.error } = options;
  checkFunction(onError, "onError");
  const uses = useRecorder(storage, onError);
  const remembered = rememberKeys(lookUp, {
    maxAge: REVOCATION_DELAY,
    canBeKey: isIssuedForm,
  });

  async function lookUp(digest: string): Promise<FoundKey | undefined> {
    if (storage.find === undefined) {
      return await storage.isActive(digest) ? { result: true } : undefined;
    }
    const record = await storage.find(digest);
    if (record === undefined || record.revoked !== undefined) return undefined;
    const validFor = (record.expires?.getTime() ?? Infinity) - Date.now();
    if (!(validFor > 0)) return undefined; // or NaN, if it is not a date
    uses.note(record);
    return { result: Object.freeze({ id: record.id }), validFor };
  }

  async function findId(key: string): Promise<number | undefined> {
    if (storage.find === undefined) {
      throw new TypeError(
        "Cannot revoke key: this storage finds keys only by id",
      );
    }
    return (await storage.find(await sha256(key)))?.id;
  }

  return {
    verify: remembered.verify,
    async issue(name, options = {}) {
      checkNames(options, ["expires"], "issue");
      const { expires } = options;
      if (expires !== undefined) checkExpires(expires, storage);
      const { key, ...made } = await makeKey(name);
      const record = await storage.insert({
        ...made,
        ...expires && { expires },
      });
      return { key, record };
    },
    async issueFirst(name) {
      // Checks first, because a read replica, which accepts no writes, may have keys.
      if ((await storage.list()).length > 0) return undefined;
      const { key, ...made } = await makeKey(name);
      const record = await storage.insertFirst(made);
      return record && { key, record };
    },
    list: () => storage.list(),
    flush: uses.flush,
    async revoke(idOrKey) {
      const id = typeof idOrKey === "number" ? idOrKey : await findId(idOrKey);
      if (id === undefined) return undefined;
      const record = await storage.revoke(id, new Date());
      remembered.forget();
      return record;
    },
  };
}

/** Makes what records on which days keys are used: `note` never waits, and `flush` writes. */
function useRecorder(
  storage: ApiKeyStorage,
  onError: (error: unknown) => void,
) {
  /** The starts of the minute and of the day, in ms, and the ids of keys that are not written. */
  let [minute, day] = [0, 0];
  let left = new Set<number>();
  /** The day of the last failure: what may not write tries again on the next. */
  let failed = 0;
  /** The write under way, and when it began. */
  let writing: Promise<void> | undefined;
  let began = 0;

  async function write(ids: readonly number[], day: Date): Promise<void> {
    try {
      // In another task, so that a request is answered first: a commit of SQLite blocks.
      await new Promise((resolve) => setTimeout(resolve));
      if (storage.markAllUsed) return await storage.markAllUsed(ids, day);
      for (const id of ids) await storage.markUsed?.(id, day);
    } catch (error) {
      failed = day.getTime();
      left.clear();
      report(() => onError(error));
    }
  }

  /** Begins to write what is left, unless a write is under way. */
  function start(): void {
    const now = Date.now();
    if (left.size === 0) return;
    if (writing !== undefined && now - began < LONGEST_WRITE) return;
    const ours = write([...left], new Date(day)).finally(() => {
      if (writing === ours) writing = undefined;
    });
    [writing, began, left] = [ours, now, new Set()];
  }

  /** Writes what is left, after the write under way. */
  async function flush(): Promise<void> {
    await writing;
    start();
    await writing;
  }

  function note({ id, lastUsed }: ApiKeyRecord): void {
    const now = Date.now();
    if (now - now % MINUTE !== minute) start();
    if (now - now % DAY !== day) left.clear(); // what could not be written yesterday
    [minute, day] = [now - now % MINUTE, now - now % DAY];
    const last = Number(lastUsed ?? 0);
    // A clock may have been ahead.
    if (day !== failed && (last < day || last > day + DAY)) left.add(id);
  }

  return { note, flush };
}

/** @throws {RangeError | TypeError} as {@linkcode IssuedKeys.issue} does. */
function checkExpires(expires: Date, { find, markUsed }: ApiKeyStorage): void {
  if (find === undefined || markUsed === undefined) {
    throw new TypeError("Cannot issue key: this storage keeps no expiry");
  }
  if (!(expires instanceof Date && expires.getTime() > Date.now())) {
    throw new RangeError(
      "Cannot issue key: expires must be a date in the future",
    );
  }
}

async function makeKey(name: string) {
  const problem = nameProblem(name);
  if (problem !== undefined) {
    throw new RangeError(`The name of an API key ${problem}`);
  }
  const key = generateKey();
  return { key, name, digest: await sha256(key), created: new Date() };
}
