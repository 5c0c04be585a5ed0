/**
 * What an animal is: the types of the contract, and the schemas that check them.
 *
 * Types are written by hand and schemas annotated with them. int64 members are `bigint`, as
 * {@linkcode parseJson} reads them.
 *
 * @module
 */

import * as v from "valibot";
import { INT64_MAX, INT64_MIN, isInt64, parseInt64 } from "./int64.ts";

/** Availability of an animal. */
export type PetStatus = "available" | "pending" | "sold";

/** Identifier of an animal: 1 to 2⁶³ − 1, ascending in order of creation, never reused. */
export type PetId = bigint & { readonly brand: "PetId" };

/** What a client sends to add an animal. */
export interface NewPet {
  /** 1 to 255 Unicode code points, well-formed, no control characters (U+0000–U+001F, U+007F). */
  readonly name: string;
  /** Any int64, −2⁶³ to 2⁶³ − 1. */
  readonly categoryId: bigint;
  /** `available` where it is omitted. */
  readonly status?: PetStatus;
}

/** An animal as the service returns it. */
export interface Pet extends Required<NewPet> {
  /** Assigned by the service on creation. */
  readonly id: PetId;
}

/** The three states of an animal, in the order of the contract. */
export const PET_STATUSES: readonly PetStatus[] = [
  "available",
  "pending",
  "sold",
];

/** The most code points that a name may have; the least is 1. */
export const MAX_NAME_LENGTH = 255;

/** Checks a {@linkcode PetStatus}. */
export const petStatusSchema: v.GenericSchema<unknown, PetStatus> = v.picklist(
  PET_STATUSES,
  `must be one of ${PET_STATUSES.join(", ")}`,
);

/** Checks an animal's name. The name is kept exactly as it came: no trimming, no normalisation. */
export const petNameSchema: v.GenericSchema<unknown, string> = v.pipe(
  v.string("must be a string"),
  v.nonEmpty("must not be empty"),
  v.check(isWellFormed, "must be well-formed Unicode, without lone surrogates"),
  v.check(
    hasNoControls,
    "must not contain control characters (U+0000 to U+001F, U+007F)",
  ),
  v.check(
    isShort,
    `must have at most ${MAX_NAME_LENGTH} characters (Unicode code points)`,
  ),
);

/** Checks an int64 held in a `bigint`. */
export const int64Schema: v.GenericSchema<unknown, bigint> = v.custom<bigint>(
  isInt64,
  `must be an integer from ${INT64_MIN} to ${INT64_MAX}`,
);

/**
 * Checks a {@linkcode NewPet} and fills in the status where it is omitted. Unknown members are
 * ignored and left out.
 */
export const newPetSchema: v.GenericSchema<unknown, Required<NewPet>> = v.pipe(
  v.unknown(),
  v.check((body) => !Array.isArray(body), "must be a JSON object"),
  v.object(
    {
      name: petNameSchema,
      categoryId: int64Schema,
      status: v.optional(petStatusSchema, "available"),
    },
    (issue) =>
      issue.path === undefined ? "must be a JSON object" : "is required",
  ),
);

/**
 * Makes a {@linkcode PetId} of an integer that is known to be one, as a storage does.
 *
 * @throws {RangeError} where it is not from 1 to 2⁶³ − 1.
 */
export function petId(value: bigint): PetId {
  if (!isPetId(value)) {
    throw new RangeError(`A pet id is from 1 to ${INT64_MAX}, not ${value}`);
  }
  return value;
}

/** Reads a {@linkcode PetId} in canonical decimal form; `undefined` where no animal can have it. */
export function parsePetId(text: string): PetId | undefined {
  const value = parseInt64(text);
  return value !== undefined && isPetId(value) ? value : undefined;
}

/**
 * Writes an animal as JSON, with its int64 members as exact JSON numbers.
 *
 * `JSON.stringify` takes no `bigint`, but pages are put together 2.5 to 3.5 times as fast by it as by
 * hand (`deno task bench paths`): it writes what has only integers that are exact as a `number`.
 *
 * @throws {TypeError} where a member is missing or of a wrong type: a storage broke its promise.
 */
export function petToJson(pet: Pet): string {
  const exact = withNumbers(pet);
  return exact === undefined ? joinPet(pet) : JSON.stringify(exact);
}

/**
 * Writes animals as a JSON array, each as {@linkcode petToJson} does.
 *
 * @throws {TypeError} as {@linkcode petToJson}.
 */
export function petsToJson(pets: readonly Pet[]): string {
  const all: unknown[] = [];
  for (const pet of pets) {
    const exact = withNumbers(pet);
    if (exact === undefined) return `[${pets.map(petToJson).join(",")}]`;
    all.push(exact);
  }
  return JSON.stringify(all);
}

/** Writes an animal that was checked, with any integers. The text is in one piece, to be kept. */
export function joinPet({ id, name, categoryId, status }: Pet): string {
  return [
    `{"id":${id},"name":`,
    JSON.stringify(name),
    `,"categoryId":${categoryId},"status":`,
    JSON.stringify(status),
    "}",
  ].join("");
}

/** The animal with its integers as `number`; `undefined` where one would not be exact. */
function withNumbers(pet: Pet): unknown {
  const { name, status } = checkPet(pet);
  const id = Number(pet.id);
  const categoryId = Number(pet.categoryId);
  // What is rounded is never safe: it comes to 2^53 or more.
  return Number.isSafeInteger(id) && Number.isSafeInteger(categoryId)
    ? { id, name, categoryId, status }
    : undefined;
}

/** @throws {TypeError} where what a storage gave as JSON text is none. */
export function checkJson(json: string): string {
  if (typeof json === "string") return json;
  throw new TypeError("The storage returned JSON that is not a text");
}

function checkPet(pet: Pet): Pet {
  if (
    typeof pet.id !== "bigint" || typeof pet.name !== "string" ||
    typeof pet.categoryId !== "bigint" || typeof pet.status !== "string"
  ) {
    throw new TypeError("The storage returned something that is not a Pet");
  }
  return pet;
}

function isPetId(value: bigint): value is PetId {
  return typeof value === "bigint" && value >= 1n && value <= INT64_MAX;
}

function isWellFormed(name: string): boolean {
  return name.isWellFormed();
}

function hasNoControls(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return false;
  }
  return true;
}

function isShort(name: string): boolean {
  // A code point takes one or two UTF-16 units: only names between the two need counting.
  if (name.length <= MAX_NAME_LENGTH) return true;
  if (name.length > 2 * MAX_NAME_LENGTH) return false;
  return [...name].length <= MAX_NAME_LENGTH;
}
