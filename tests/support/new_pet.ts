/** Pets to add, for tests that call a storage themselves. */

import type { CheckedPet, NewPet } from "../../core/pets/pet.ts";

/** The same pet, taken as checked. */
export function newPet(pet: Required<NewPet>): CheckedPet {
  return pet as CheckedPet;
}

/** A pet to add. */
export const REX: CheckedPet = newPet({
  name: "Rex",
  categoryId: 1n,
  status: "available",
});
