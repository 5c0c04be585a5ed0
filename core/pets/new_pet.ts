/** Checks what a client sends to add a pet. */

import * as v from "valibot";
import { Refusal } from "../errors.ts";
import { INT64_MAX, INT64_MIN, isInt64 } from "../int64.ts";
import { nameSchema } from "./name.ts";
import { type CheckedPet, PET_STATUSES, type PetStatus } from "./pet.ts";

export const statusSchema: v.GenericSchema<unknown, PetStatus> = v.picklist(
  PET_STATUSES,
  `must be one of ${PET_STATUSES.join(", ")}`,
);

export const int64Schema: v.GenericSchema<unknown, bigint> = v.custom<bigint>(
  isInt64,
  ({ input }) =>
    `must be an integer from ${INT64_MIN} to ${INT64_MAX}${inForm(input)}`,
);

/** Says in which form to pass an integer instead of the wrong one. */
export function inForm(wrong: unknown): string {
  // Many clients quote integers above 2⁵³.
  if (typeof wrong === "string") return ", without quotes";
  // From JavaScript: in a body, such a number becomes a bigint.
  return Number.isSafeInteger(wrong) ? ", as a bigint such as 7n" : "";
}

const newPetSchema = v.pipe(
  v.custom((body) => !Array.isArray(body), "must be a JSON object"),
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
 * Checks a parsed body. Returns the pet, or a 400 that names each member and what is wrong with it.
 */
export function parseNewPet(body: unknown): CheckedPet | Refusal {
  const check = v.safeParse(newPetSchema, body);
  if (check.success) return check.output as CheckedPet; // the only place that makes one
  const problems = check.issues.map((issue) =>
    `${v.getDotPath(issue) ?? "the body"} ${issue.message}`
  );
  return new Refusal(
    "bad_request",
    `Cannot create pet: ${problems.join("; ")}`,
  );
}

/**
 * Checks a pet to add, for code that calls a storage itself.
 *
 * @example Add a pet to a storage
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { checkNewPet } from "@petstore/service/storage";
 * import assert from "node:assert/strict";
 *
 * const pet = await memoryStorage().create(checkNewPet({ name: "Rex", categoryId: 1n }));
 * assert.equal(pet.status, "available");
 * ```
 *
 * @param input anything; `categoryId` must be a `bigint`.
 * @returns the pet, with the status `available` if it had none, and without unknown members.
 * @throws {TypeError} if it is not a valid pet. The message names each member and what is wrong
 * with it.
 */
export function checkNewPet(input: unknown): CheckedPet {
  const pet = parseNewPet(input);
  if (pet instanceof Refusal) throw new TypeError(pet.message);
  return pet;
}
