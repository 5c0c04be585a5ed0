/** Checks what a client sends to add a pet. */

import * as v from "valibot";
import { INT64_MAX, INT64_MIN, isInt64 } from "../int64.ts";
import { type CheckedPet, PET_STATUSES } from "./pet.ts";
import { Problems } from "./problems.ts";

/** The maximum number of code points in a name; the minimum is 1. */
export const MAX_NAME_LENGTH = 255;

/** Checks a name, which is kept exactly as sent: no trimming, no normalisation. */
const nameSchema = v.pipe(
  v.string("must be a string"),
  v.nonEmpty("must not be empty"),
  v.check(
    (name) => name.isWellFormed(),
    "must be well-formed Unicode, without lone surrogates",
  ),
  v.regex(
    // deno-lint-ignore no-control-regex -- names must not contain them
    /^[^\u0000-\u001f\u007f]*$/,
    "must not contain control characters (U+0000 to U+001F, U+007F)",
  ),
  v.check(
    (name) => [...name].length <= MAX_NAME_LENGTH,
    `must have at most ${MAX_NAME_LENGTH} characters (Unicode code points)`,
  ),
);

/** Says what is wrong with a name, such as `must not be empty`; `undefined` if nothing is. */
export function nameProblem(name: unknown): string | undefined {
  return v.safeParse(nameSchema, name).issues?.[0].message;
}

const statusSchema = v.picklist(
  PET_STATUSES,
  `must be one of ${PET_STATUSES.join(", ")}`,
);

const int64Schema = v.custom<bigint>(
  isInt64,
  ({ input }) => int64Problem(input),
);

/** Says what is wrong with a value that is no int64. */
export function int64Problem(wrong: unknown): string {
  return `must be an integer from ${INT64_MIN} to ${INT64_MAX}${inForm(wrong)}`;
}

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

/** Checks a parsed body. Returns the pet, or what is wrong with each member. */
export function parseNewPet(body: unknown): CheckedPet | Problems {
  const check = v.safeParse(newPetSchema, body);
  if (check.success) return check.output as CheckedPet; // the only place that makes one
  return new Problems(check.issues.map((issue) => ({
    name: v.getDotPath(issue) ?? undefined,
    reason: issue.message,
  })));
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
  if (pet instanceof Problems) throw new TypeError(`Cannot create pet: ${pet}`);
  return pet;
}
