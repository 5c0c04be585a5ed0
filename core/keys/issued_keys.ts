/** API keys that the service issues itself. An adapter stores their records. */

import * as v from "valibot";
import { type ApiKeys, rememberKeys } from "./api_keys.ts";
import { sha256 } from "../sha256.ts";
import { generateKey, isIssuedForm } from "./key_form.ts";
import { nameSchema } from "../name.ts";

/** The record of an issued key; none of it is secret. */
export interface ApiKeyRecord {
  /** A number for people: 1, 2, 3, …. */
  readonly id: number;
  /** The purpose or owner of the key, by the rules of a pet's name. */
  readonly name: string;
  /** When it was issued. */
  readonly created: Date;
  /** When it was revoked; absent if it is valid. */
  readonly revoked?: Date;
}

/** A record to store. `created` is exact to the millisecond. */
export interface NewApiKeyRecord
  extends Pick<ApiKeyRecord, "name" | "created"> {
  /** SHA-256 of the key: 64 lower-case hexadecimal digits. */
  readonly digest: string;
}

/**
 * Where records of issued keys are stored. It is as durable as the `PetStorage` that it belongs to,
 * and rejects as `unavailable` once that is closed.
 */
export interface ApiKeyStorage {
  /** Stores a record. Rejects if another record has its digest. */
  insert(record: NewApiKeyRecord): Promise<ApiKeyRecord>;
  /**
   * Stores a record if there is no record yet, not even a revoked one. However many calls run at
   * once, in however many processes, at most one returns its record; the others return `undefined`.
   */
  insertFirst(record: NewApiKeyRecord): Promise<ApiKeyRecord | undefined>;
  /** Tells whether a record that is not revoked has this digest. */
  isActive(digest: string): Promise<boolean>;
  /**
   * Returns the record with this digest, even if it is revoked; `undefined` if it is not found. A
   * storage may leave this method out; then keys can be revoked only by their ids.
   */
  find?(digest: string): Promise<ApiKeyRecord | undefined>;
  /** Returns all records, ascending by id. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /**
   * Marks a record as revoked. A record that is revoked already keeps its time.
   *
   * @returns the record; `undefined` if it is not found.
   */
  revoke(id: number, time: Date): Promise<ApiKeyRecord | undefined>;
}

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
   * Issues a key. Only the result has the key itself.
   *
   * @param name the purpose or owner of the key, by the rules of a pet's name.
   * @throws {RangeError} if the name breaks those rules.
   */
  issue(name: string): Promise<IssuedKey>;
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
}

/** The longest that a process goes on accepting a key that another process revoked, in ms. */
export const REVOCATION_DELAY = 1000;

/**
 * Issues, lists, revokes and verifies keys whose records are stored.
 *
 * @example Issue a key and revoke it
 * ```ts
 * import { issuedKeys, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const keys = issuedKeys(memoryStorage().apiKeys);
 * const { key, record } = await keys.issue("mobile app");
 * assert.equal(await keys.verify(key), true);
 *
 * await keys.revoke(record.id);
 * assert.equal(await keys.verify(key), false);
 * ```
 *
 * @param storage the `apiKeys` of a storage, or your own.
 * @returns the `keys` option of `createHandler`, which can also issue, list and revoke.
 */
export function issuedKeys(storage: ApiKeyStorage): IssuedKeys {
  const remembered = rememberKeys((digest) => storage.isActive(digest), {
    maxAge: REVOCATION_DELAY,
    canBeKey: isIssuedForm,
  });

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
    async issue(name) {
      const { key, ...made } = await makeKey(name);
      return { key, record: await storage.insert(made) };
    },
    async issueFirst(name) {
      // Looks first, because a database that accepts no writes, such as a read replica, may have
      // keys.
      if ((await storage.list()).length > 0) return undefined;
      const { key, ...made } = await makeKey(name);
      const record = await storage.insertFirst(made);
      return record && { key, record };
    },
    list: () => storage.list(),
    async revoke(idOrKey) {
      const id = typeof idOrKey === "number" ? idOrKey : await findId(idOrKey);
      if (id === undefined) return undefined;
      const record = await storage.revoke(id, new Date());
      remembered.forget();
      return record;
    },
  };
}

async function makeKey(name: string) {
  const check = v.safeParse(nameSchema, name);
  if (!check.success) {
    throw new RangeError(`The name of an API key ${check.issues[0].message}`);
  }
  const key = generateKey();
  return { key, name, digest: await sha256(key), created: new Date() };
}
