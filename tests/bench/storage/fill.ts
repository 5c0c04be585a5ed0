/**
 * The animals that are there before a storage is compared.
 *
 * @module
 */

import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { numberedPet } from "../sample_pets.ts";

/** How many there are. */
export const PETS = 10_000;

const AT_ONCE = 250;

/** Adds them, and is fulfilled once they are all there. */
export async function fill(storage: PetStorage): Promise<void> {
  for (let start = 0; start < PETS; start += AT_ONCE) {
    await Promise.all(
      Array.from(
        { length: AT_ONCE },
        (_, i) => storage.create(numberedPet(start + i)),
      ),
    );
  }
}
