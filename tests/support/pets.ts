/** Pets to add, and the keys to add them with. */

import type { CheckedPet, NewPet } from "../../core/pets/pet.ts";

export { key, REX } from "../contract/storage/sample_pets.ts";

/** The body of a create, as short as can be. */
export const REX_JSON = '{"name":"Rex","categoryId":1}';

/** The same pet, taken as checked. */
export function newPet(pet: Required<NewPet>): CheckedPet {
  return pet as CheckedPet;
}
