/**
 * The input of every contestant that has no schemas of its own, checked with valibot.
 *
 * @module
 */

import * as v from "valibot";

const status = v.picklist(["available", "pending", "sold"]);

/** The parameters of a listing, as a query string has them: texts. */
export const pageQuery = v.object({
  limit: v.optional(
    v.pipe(
      v.string(),
      v.digits(),
      v.toNumber(),
      v.minValue(1),
      v.maxValue(100),
    ),
    "20",
  ),
  status: v.optional(status),
  after: v.optional(
    v.pipe(v.string(), v.regex(/^-?\d+$/), v.toNumber(), v.safeInteger()),
  ),
});

/** The `petId` of a path. */
export const petParameters = v.object({
  petId: v.pipe(v.string(), v.digits(), v.toNumber(), v.safeInteger()),
});

export const newPet = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  categoryId: v.pipe(v.number(), v.safeInteger()),
  status: v.optional(status),
});
