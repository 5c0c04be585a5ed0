/** Pets: the types of the contract, their ids, and JSON. int64 members are `bigint`. */

import { INT64_MAX, parseInt64 } from "../int64.ts";

/** Availability of a pet. */
export type PetStatus = "available" | "pending" | "sold";

/**
 * Identifier of a pet: 1 to 2⁶³ − 1, ascending in order of creation, never reused. `petId` makes
 * one. Its member exists only as a type (a brand), so no other `bigint` is accepted as an id.
 */
export type PetId = bigint & { readonly inTypesOnly: "PetId" };

/** A pet as a client sends it, to be added. */
export interface NewPet {
  /** 1 to 255 Unicode code points, well-formed, no control characters (U+0000–U+001F, U+007F). */
  readonly name: string;
  /** Any int64, −2⁶³ to 2⁶³ − 1. */
  readonly categoryId: bigint;
  /** `available` if it is omitted. */
  readonly status?: PetStatus;
}

/**
 * A pet to add that has been checked, with its status filled in. `checkNewPet` makes one. It has a
 * brand, as {@linkcode PetId} does.
 */
export type CheckedPet = Required<NewPet> & {
  readonly inTypesOnly: "CheckedPet";
};

/** A pet as the service returns it. */
export interface Pet extends Required<NewPet> {
  /** Assigned by the service on creation. */
  readonly id: PetId;
}

/** The statuses of a pet, in the order of the contract. */
export const PET_STATUSES: readonly PetStatus[] = [
  "available",
  "pending",
  "sold",
];

/**
 * Makes a {@linkcode PetId} from an integer, for authors and callers of storages.
 *
 * @example Get a pet from a storage
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { petId } from "@petstore/service/storage";
 * import assert from "node:assert/strict";
 *
 * const pet = await memoryStorage().get(petId(7n));
 * assert.equal(pet, undefined);
 * ```
 *
 * @param value 1 to 2⁶³ − 1.
 * @returns the same integer.
 * @throws {RangeError} if it is out of bounds.
 */
export function petId(value: bigint): PetId {
  if (typeof value === "bigint" && value >= 1n && value <= INT64_MAX) {
    return value as PetId;
  }
  throw new RangeError(`A pet id must be from 1 to ${INT64_MAX}, not ${value}`);
}

/** Reads a {@linkcode PetId} in canonical decimal form; `undefined` if no pet can have it. */
export function parsePetId(text: string): PetId | undefined {
  const value = parseInt64(text);
  return value !== undefined && value >= 1n ? petId(value) : undefined;
}

/**
 * Writes a pet as JSON. `JSON.stringify` cannot, because it refuses every `bigint`.
 *
 * @example Write a pet
 * ```ts
 * import { petId, petToJson } from "@petstore/service/storage";
 * import assert from "node:assert/strict";
 *
 * const text = petToJson({ id: petId(7n), name: "Rex", categoryId: 1n, status: "sold" });
 * assert.equal(text, '{"id":7,"name":"Rex","categoryId":1,"status":"sold"}');
 * ```
 *
 * @param pet a pet, as a storage or a client returns it.
 * @returns the JSON text, whose integers are exact.
 * @throws {TypeError} if a member is missing or has the wrong type: a storage broke its promise.
 */
export function petToJson(pet: Pet): string {
  const numbers = withNumbers(pet);
  if (numbers !== undefined) return JSON.stringify(numbers);
  const { id, name, categoryId, status } = pet;
  return `{"id":${id},"name":${
    JSON.stringify(name)
  },"categoryId":${categoryId},"status":${JSON.stringify(status)}}`;
}

/** Writes pets as a JSON array, each as {@linkcode petToJson} does. */
export function petsToJson(pets: readonly Pet[]): string {
  const all: unknown[] = [];
  for (const pet of pets) {
    const numbers = withNumbers(pet);
    if (numbers === undefined) return `[${pets.map(petToJson).join(",")}]`;
    all.push(numbers);
  }
  return JSON.stringify(all);
}

/**
 * Returns a pet whose integers are of the type `number`, which `JSON.stringify` writes faster than
 * a `bigint` becomes text; `undefined` if they would not be exact.
 */
function withNumbers(pet: Pet): object | undefined {
  assertPet(pet);
  const { name, status } = pet;
  const id = Number(pet.id);
  const categoryId = Number(pet.categoryId);
  // A rounded integer is never safe, because it is 2^53 or more.
  return Number.isSafeInteger(id) && Number.isSafeInteger(categoryId)
    ? { id, name, categoryId, status }
    : undefined;
}

function assertPet({ id, name, categoryId, status }: Pet): void {
  if (
    typeof id !== "bigint" || typeof name !== "string" ||
    typeof categoryId !== "bigint" || typeof status !== "string"
  ) {
    throw new TypeError(
      "Cannot write pet: the storage returned something that is not a Pet",
    );
  }
}
