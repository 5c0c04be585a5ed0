/** The storage port of issued API keys. `@petstore/service/contract` tests a storage against it. */

/** The record of an issued key; none of it is secret. */
export interface ApiKeyRecord {
  /** A number for people: 1, 2, 3, …. */
  readonly id: number;
  /** The purpose or owner of the key, by the rules of a pet's name. */
  readonly name: string;
  /** When it was issued. */
  readonly created: Date;
  /** When it was revoked; absent if it was not. */
  readonly revoked?: Date;
  /** When it expires: it is refused from then on; absent if it does not expire. */
  readonly expires?: Date;
  /** The start of the day, in UTC, on which it was last used; absent if it was never used. */
  readonly lastUsed?: Date;
}

/** A record to store. Its times are exact to the millisecond. */
export interface NewApiKeyRecord
  extends Pick<ApiKeyRecord, "name" | "created" | "expires"> {
  /** SHA-256 of the key: 64 lower-case hexadecimal digits. */
  readonly digest: string;
}

/**
 * Where records of issued keys are stored. It is as durable as its `PetStorage`, and rejects as
 * `unavailable` once that is closed.
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
   * storage may omit this method; then keys can be revoked only by id, and their ids are not
   * logged.
   */
  find?(digest: string): Promise<ApiKeyRecord | undefined>;
  /** Returns all records, ascending by id. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /**
   * Marks a record as revoked. A record that is already revoked keeps its time.
   *
   * @returns the record; `undefined` if it is not found.
   */
  revoke(id: number, time: Date): Promise<ApiKeyRecord | undefined>;
  /**
   * Sets `lastUsed`, unless the record is not found or has a later day. A day that is more than one
   * day later is replaced, because a clock was ahead. A storage may omit this method; one that has
   * it also has `find`, and keeps `expires`.
   */
  markUsed?(id: number, day: Date): Promise<void>;
  /** Does for several records, at once, what `markUsed` does for one. A storage may omit it. */
  markAllUsed?(ids: readonly number[], day: Date): Promise<void>;
}
