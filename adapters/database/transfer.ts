/** Whole tables, read from one database and written to another with the same ids. */

import type { Pet } from "../../core/pets/pet.ts";
import type { StoredApiKey } from "./stored_row.ts";

/** A database, opened to copy all of it. */
export interface Transfer {
  /** Identifies the database, whatever its address. */
  readonly identity: string;
  readonly pets: Records<Pet>;
  readonly apiKeys: Records<StoredApiKey>;
  /** Marks a key revoked, unless it is already. */
  revokeApiKey(key: StoredApiKey): Promise<unknown>;
  readonly idempotencyKeys: IdempotencyKeys;
  close(): Promise<void>;
}

/** The row of an idempotency key: the pet that it added, and when, in ms since 1970. */
export type StoredIdempotencyKey = readonly [
  key: string,
  petId: bigint,
  created: bigint,
];

/** The records of idempotency keys. Both methods reject with a `StorageError`. */
export interface IdempotencyKeys {
  /** At most `limit` above `after`, ascending; none if the database is older than such keys. */
  read(after: string, limit: number): Promise<readonly StoredIdempotencyKey[]>;
  /** Adds records, or replaces those with the same key. */
  write(rows: readonly StoredIdempotencyKey[]): Promise<void>;
}

/** What to do if a database has no tables. `refuse` fails, and changes no older tables either. */
export type IfMissing = "create" | "refuse";

/** All records of one kind. Ids are 1 or more. Every method rejects with a `StorageError`. */
export interface Records<T extends { readonly id: bigint }> {
  /** How many have an id above `after`. */
  count(after: bigint): Promise<number>;
  lastIds(): Promise<LastIds>;
  /** At most `limit` with an id above `after`, ascending by id. */
  read(after: bigint, limit: number): Promise<readonly T[]>;
  /** Adds records with their ids: all, or none and `false` if the last stored id is not `after`. */
  restore(records: readonly T[], after: bigint): Promise<boolean>;
  /** Makes ids given from now on greater than `id`, and than all given before. */
  continueAfter(id: bigint): Promise<void>;
}

/** The id of the last record that is stored, and the greatest ever given; or 0. */
export interface LastIds {
  readonly stored: bigint;
  readonly given: bigint;
}
