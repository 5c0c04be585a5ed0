/**
 * Records as they are stored, with their ids, out of one database and into another. Internal: the
 * storages are opened for it beside their public doors, and no service runs on it.
 *
 * @module
 */

import type { Pet } from "../../core/pets/pet.ts";
import type { StoredApiKey } from "./stored_row.ts";

/** A database, opened to read all of it or to write what another one has. */
export interface Transfer {
  /** Tells databases apart: the same for two addresses of one database. */
  readonly identity: string;
  readonly pets: Records<Pet>;
  readonly apiKeys: Records<StoredApiKey>;
  /** Marks a key revoked as another database has it; one that is revoked already is left as it is. */
  revokeApiKey(key: StoredApiKey): Promise<void>;
  readonly idempotencyKeys: IdempotencyKeys;
  /** Lets go of everything. */
  close(): Promise<void>;
}

/** A row of an idempotency key: the pet that was added with it, and when, in ms since 1970. */
export type StoredIdempotencyKey = readonly [
  key: string,
  petId: bigint,
  created: bigint,
];

/** The records of idempotency keys. Both methods reject with a `StorageError`. */
export interface IdempotencyKeys {
  /** At most `limit` above `after`, ascending; none if the tables are older than such keys. */
  read(after: string, limit: number): Promise<readonly StoredIdempotencyKey[]>;
  /** Keeps records, in place of those that have the same key. */
  write(rows: readonly StoredIdempotencyKey[]): Promise<void>;
}

/** What to do where a database has no tables. */
export type IfMissing =
  /** Make them. */
  | "create"
  /** Fail, and change nothing: older tables stay as they are, too. */
  | "refuse";

/** All records of one kind. Ids are 1 or more. Every method rejects with a `StorageError`. */
export interface Records<T extends { readonly id: bigint }> {
  /** How many have an id above `after`. */
  count(after: bigint): Promise<number>;
  lastIds(): Promise<LastIds>;
  /** At most `limit` with an id above `after`, ascending by id. */
  read(after: bigint, limit: number): Promise<readonly T[]>;
  /**
   * Adds records with the ids that they have: all of them or none, after the last one that is there,
   * which is to have the id `after`.
   *
   * @returns `false` where the last one has another id; nothing is added then.
   */
  restore(records: readonly T[], after: bigint): Promise<boolean>;
  /** From now on gives only ids above `id`, and above those that it gave before. */
  continueAfter(id: bigint): Promise<void>;
}

/** Ids; 0 where there is none. */
export interface LastIds {
  /** Of the last record that is there. */
  readonly stored: bigint;
  /** The greatest that was ever given. */
  readonly given: bigint;
}
