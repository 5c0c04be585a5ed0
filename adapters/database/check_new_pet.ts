/**
 * The check that every storage makes before it keeps an animal.
 *
 * @module
 */

import * as v from "valibot";
import { type NewPet, newPetSchema } from "../../core/pets/pet.ts";

/**
 * Checks an animal and copies it, so that a caller who changes the object afterwards changes
 * nothing that waits to be stored.
 *
 * @throws {TypeError} where it does not satisfy `newPetSchema`; the message names what is wrong.
 */
export function checkNewPet(pet: unknown): Required<NewPet> {
  const check = v.safeParse(newPetSchema, pet, { abortEarly: true });
  if (check.success) return check.output;
  const [issue] = check.issues;
  throw new TypeError(
    `Cannot create pet: ${v.getDotPath(issue) ?? "it"} ${issue.message}`,
  );
}
