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

/** A function of a storage that reads. */
export interface Read<Argument, Found, Json> {
  /** Returns objects. */
  (argument: Argument): Promise<Found>;
  /** Returns the same as JSON text; made by {@linkcode withJson}. May be left out. */
  readonly json?: ReadJson<Argument, Json> | undefined;
}

/** The `json` of a {@linkcode Read}. */
export interface ReadJson<Argument, Json> {
  /** Returns JSON text. */
  (argument: Argument): Promise<Json>;
  /** The function that returns the same as objects. */
  readonly of: unknown;
}

/** Returns the animal with this id, or its JSON text; `undefined` where there is none. */
export type GetPet = Read<PetId, Pet | undefined, string | undefined>;

/** Returns the animals that match, or their JSON text, ascending by id. */
export type ListPets = Read<PetQuery, readonly Pet[], JsonPage>;

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

/**
 * Gives a function of a storage a `json` that returns JSON text, byte for byte as `petToJson` writes it:
 * for a storage that keeps the text of its animals, so that it is not written anew at every request.
 *
 * It serves this function alone. Another one in its place, as in a wrapper that hides animals, is asked
 * for objects, even where it has the properties of this one, as a copy, a mock or a `Proxy` has.
 */
export function withJson<Argument, Found, Json>(
  read: (argument: Argument) => Promise<Found>,
  json: (argument: Argument) => Promise<Json>,
): Read<Argument, Found, Json> {
  return Object.assign(read, { json: Object.assign(json, { of: read }) });
}

/** The `json` of a function, where it has one of its own. */
export function jsonOf<Argument, Found, Json>(
  read: Read<Argument, Found, Json>,
): ReadJson<Argument, Json> | undefined {
  const { json } = read;
  return json?.of === read ? json : undefined;
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
