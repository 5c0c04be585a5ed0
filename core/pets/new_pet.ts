/** The check of what a client sends to add a pet. */

import * as v from "valibot";
import { Refusal } from "../http/refusal.ts";
import { INT64_MAX, INT64_MIN, isInt64 } from "./int64.ts";
import {
  type CheckedPet,
  MAX_NAME_LENGTH,
  type NewPet,
  PET_STATUSES,
  type PetStatus,
} from "./pet.ts";

/** Checks a status. */
export const statusSchema: v.GenericSchema<unknown, PetStatus> = v.picklist(
  PET_STATUSES,
  `must be one of ${PET_STATUSES.join(", ")}`,
);

/** Checks a name. It is kept exactly as sent: no trimming, no normalisation. */
export const nameSchema: v.GenericSchema<unknown, string> = v.pipe(
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

/** Unknown members are ignored and left out; a missing status is filled in. */
const newPetSchema = v.pipe(
  v.unknown(),
  v.check((body) => !Array.isArray(body), "must be a JSON object"),
  v.object(
    {
      name: nameSchema,
      categoryId: int64Schema,
      status: v.optional(statusSchema, "available"),
    },
    (issue) =>
      issue.path === undefined ? "must be a JSON object" : "is required",
  ),
);

/**
 * Checks a parsed body.
 *
 * @returns the pet, or a 400 that names each member and what is wrong with it.
 */
export function parseNewPet(body: unknown): CheckedPet | Refusal {
  return quickCheck(body) ?? parseWithSchema(body);
}

/**
 * Checks the body that nearly every client sends: all of the members right, in a plain object. Between
 * two requests the processor's caches are cold, and to walk the schema costs 10 µs; this costs 1. Anything
 * else is for the schema to judge.
 */
function quickCheck(body: unknown): CheckedPet | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return;
  const { name, categoryId, status = "available" } = body as Partial<NewPet>;
  const isValid = typeof name === "string" && name !== "" && isShort(name) &&
    hasNoControls(name) && isWellFormed(name) && isInt64(categoryId) &&
    PET_STATUSES.includes(status);
  return isValid ? { name, categoryId, status } as CheckedPet : undefined;
}

/** Does what {@linkcode parseNewPet} does, by the schema alone. */
export function parseWithSchema(body: unknown): CheckedPet | Refusal {
  const check = v.safeParse(newPetSchema, body);
  if (check.success) return check.output as CheckedPet; // the one place that makes it one
  const problems = check.issues.map((issue) =>
    `${v.getDotPath(issue) ?? "the body"} ${issue.message}`
  );
  return new Refusal(
    "bad_request",
    `Cannot create pet: ${problems.join("; ")}`,
  );
}

/**
 * Checks a pet to add, for code that calls a storage itself. A missing status becomes `available`;
 * unknown members are left out.
 *
 * ```ts
 * import { checkNewPet, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const pet = await memoryStorage().create(checkNewPet({ name: "Rex", categoryId: 1n }));
 * assert.equal(pet.status, "available");
 * assert.throws(() => checkNewPet({ name: "" }), TypeError);
 * ```
 *
 * @throws {TypeError} if it is no valid pet; the message names each member and what is wrong with it.
 */
export function checkNewPet(input: unknown): CheckedPet {
  const pet = parseNewPet(input);
  if (pet instanceof Refusal) throw new TypeError(pet.message);
  return pet;
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
  // A code point takes one or two UTF-16 units: only lengths between the two need counting.
  if (name.length <= MAX_NAME_LENGTH) return true;
  if (name.length > 2 * MAX_NAME_LENGTH) return false;
  return [...name].length <= MAX_NAME_LENGTH;
}
