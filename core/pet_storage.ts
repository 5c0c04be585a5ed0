/**
 * The storage port: what the service asks of whatever keeps the animals.
 *
 * An adapter implements {@linkcode PetStorage} and keeps every promise written here;
 * `tests/contract/pet_storage_contract.ts` holds it to them.
 *
 * @module
 */

import type { NewPet, Pet, PetId, PetStatus } from "./pet.ts";

/** Which animals {@linkcode PetStorage.list} returns. */
export interface PetQuery {
  /** Return at most this many: 1 or more. */
  readonly limit: number;
  /** Return only animals with this status. */
  readonly status?: PetStatus;
  /** Return only animals whose id is greater: any int64. */
  readonly after?: bigint;
}

/** Returns the animal with this id; `undefined` where there is none. */
export interface GetPet {
  (id: PetId): Promise<Pet | undefined>;
  /**
   * Returns the same as JSON text, byte for byte as `petToJson` writes it: for a storage that keeps the
   * text of its animals, so that it is not written anew for every request. May be left out. It belongs
   * to the function: who puts another `get` in its place takes both away.
   */
  readonly json?: (id: PetId) => Promise<string | undefined>;
}

/** Returns the animals that match, ascending by id. */
export interface ListPets {
  (query: PetQuery): Promise<readonly Pet[]>;
  /** Returns the same as JSON text. May be left out, and belongs to the function, as {@linkcode GetPet.json}. */
  readonly json?: (query: PetQuery) => Promise<JsonPage>;
}

/** What `list.json` returns. */
export interface JsonPage {
  /** The array of the animals, each byte for byte as `petToJson` writes it, without white space. */
  readonly json: string;
  /** The id of the last of them where more animals match; `undefined` where no more do. */
  readonly last: PetId | undefined;
}

/**
 * Keeps animals. Every method returns a promise, and rejects with a {@linkcode StorageError} where
 * the fault is one a caller can act on.
 */
export interface PetStorage {
  /**
   * Adds an animal and gives it an id greater than every id given before.
   *
   * Once the promise is fulfilled the animal is as durable as the storage makes anything, and every
   * `get` and `list` that starts afterwards sees it. Ids become visible in ascending order: a reader
   * that has seen an id never later sees a smaller one appear.
   *
   * @throws {TypeError} where `pet` does not satisfy `newPetSchema`; nothing is stored, and
   * creates under way at the same time are not affected.
   */
  create(pet: Required<NewPet>): Promise<Pet>;

  /** Returns the animal with this id; `undefined` where there is none. */
  readonly get: GetPet;

  /** Returns the animals that match, ascending by id. */
  readonly list: ListPets;

  /** Fulfilled where the storage can answer now; rejected with the reason where it cannot. */
  ping(): Promise<void>;

  /** Finishes the creates under way, then lets go of everything. May be called more than once. */
  close(): Promise<void>;
}

/** What is known about the operation that failed. */
export type StorageErrorKind =
  /** Nothing happened: the operation can be tried again. */
  | "unavailable"
  /** A create was under way: it may have happened, and may not. */
  | "outcome_unknown";

/** A fault of the storage that a caller can act on. Its `cause` is the driver's own error. */
export class StorageError extends Error {
  /** What is known about the operation that failed. */
  readonly kind: StorageErrorKind;

  /** Makes the error; `message` is for operators, and is never sent to a client. */
  constructor(kind: StorageErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageError";
    this.kind = kind;
  }
}
