/**
 * The second port: what a database behind queues implements. Each method runs a whole group in one
 * statement or transaction, and returns the results in the order of the group; an `Error` among them
 * fails its item alone, and a rejection fails all. `groupedPets` makes a `PetStorage` of it.
 */

import type {
  CheckedPet,
  Page,
  PageRequest,
  Pet,
  PetId,
} from "../../core/storage.ts";

/** A pet to create, and its idempotency key if it has one. */
export interface Create {
  readonly pet: CheckedPet;
  readonly key: string | undefined;
}

/** The pet that a create added, or that an earlier create with its key added. */
export type Created = Pet & { readonly replayed?: true };

/** What a group resolves to: a result, or an error, for each item. */
export type Results<Result> = Promise<readonly (Result | Error)[]>;

export interface GroupStorage {
  /**
   * Stores all pets of a group or none, but skips those whose key is already stored. An `Error`
   * means that a pet was skipped, and the earlier one cannot be returned. No key is in a group
   * twice. Once it resolves, all of them are durable.
   */
  create(group: readonly Create[]): Results<Created>;
  /** Reads pets. They are frozen, because callers may share them. */
  get(ids: readonly PetId[]): Results<Pet | undefined>;
  /** Reads pages of frozen pets. */
  list(requests: readonly PageRequest[]): Results<Page>;
}
