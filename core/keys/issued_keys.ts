/** API keys that the service issues itself. The rules are here; an adapter keeps the records. */

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

/** A record to be kept; `created` to the millisecond. */
export interface NewApiKeyRecord
  extends Pick<ApiKeyRecord, "name" | "created"> {
  /** SHA-256 of the key: 64 lower-case hexadecimal digits. */
  readonly digest: string;
}

/**
 * The port to whatever keeps the records of issued keys. It is as durable as the `PetStorage` that has it,
 * and rejects as `unavailable` once that is closed.
 */
export interface ApiKeyStorage {
  /** Keeps a record; rejects if a record has this digest. */
  insert(record: NewApiKeyRecord): Promise<ApiKeyRecord>;
  /**
   * Keeps a record only if no record exists yet, not even a revoked one. Of any number of calls at
   * once, in any number of processes, at most one gets its record, the others `undefined`.
   */
  insertFirst(record: NewApiKeyRecord): Promise<ApiKeyRecord | undefined>;
  /** Tells whether a record that is not revoked has this digest. */
  isActive(digest: string): Promise<boolean>;
  /**
   * Returns the record with this digest, also if it is revoked; `undefined` if it is not found. A storage may leave
   * this out: then a key can be revoked by its id alone.
   */
  find?(digest: string): Promise<ApiKeyRecord | undefined>;
  /** All records, ascending by id. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /** Marks a record revoked, or keeps the time if it is already; `undefined` if it is not found. */
  revoke(id: number, time: Date): Promise<ApiKeyRecord | undefined>;
}

/** A key that was just issued, and its record. */
export interface IssuedKey {
  /** The key itself, which is kept nowhere. */
  readonly key: string;
  /** The record that is kept. */
  readonly record: ApiKeyRecord;
}

/** Issues, lists, revokes and verifies keys. */
export interface IssuedKeys extends ApiKeys, Pick<ApiKeyStorage, "list"> {
  /**
   * Issues a key, which is shown only here.
   * @throws {RangeError} if the name breaks the rules of a pet's name.
   */
  issue(name: string): Promise<IssuedKey>;
  /** Issues the very first key; `undefined` if one was ever issued. */
  issueFirst(name: string): Promise<IssuedKey | undefined>;
  /**
   * Revokes a key, by its id or by the key itself: at once here, within a second in other processes.
   * @returns the record; `undefined` if it is not found.
   * @throws {TypeError} if it is the key itself, and the storage has no {@linkcode ApiKeyStorage.find}.
   */
  revoke(idOrKey: number | string): Promise<ApiKeyRecord | undefined>;
}

/** The longest that a process goes on taking a key that another process revoked, in ms. */
export const REVOCATION_DELAY = 1000;

/**
 * Issued keys over a storage of their records.
 *
 * @example
 * ```ts
 * import { issuedKeys, memoryStorage } from "@petstore/service";
 *
 * const { key } = await issuedKeys(memoryStorage().apiKeys).issue("mobile app");
 * ```
 */
export function issuedKeys(storage: ApiKeyStorage): IssuedKeys {
  const remembered = rememberKeys((digest) => storage.isActive(digest), {
    maxAge: REVOCATION_DELAY,
    canBeKey: isIssuedForm,
  });

  async function findId(key: string): Promise<number | undefined> {
    if (storage.find === undefined) {
      throw new TypeError("The storage finds no key by itself, only by its id");
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
      // Looks first, because a database that takes no writes, such as a read replica, may have keys.
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
