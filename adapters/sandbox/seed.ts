/** The pets that a sandbox starts with. */

import { Refusal } from "../../core/http/refusal.ts";
import { INT64_MAX, INT64_MIN } from "../../core/json.ts";
import { parseNewPet } from "../../core/pets/new_pet.ts";
import { type CheckedPet, PET_STATUSES } from "../../core/pets/pet.ts";

/**
 * Names that clients get wrong: other scripts, accents as one and as two code points, quotes, the
 * longest.
 */
const NAMES: readonly string[] = [
  "Rex",
  "Zo\u00eb",
  "Zoe\u0308",
  "小白",
  "Мурка",
  "مشمش",
  "👩‍🦰🐈‍⬛",
  `O'Malley "the Cat"`,
  " <b>100%25</b> \\n ",
  "🐾".repeat(255), // 510 UTF-16 code units
];

/** 2⁵³, beyond which a double is not exact. */
const EXACT = 2n ** 53n;
const CATEGORIES = [1n, 0n, -1n, EXACT + 1n, -EXACT - 1n, INT64_MAX, INT64_MIN];

/**
 * Makes the pets of a seed: a number of them, always the same, or those of an array.
 *
 * @throws {TypeError} if it is neither, there are more than `maxPets`, or a pet is wrong. The
 * message names the pet and the member.
 */
export function makeSeed(seed: unknown, maxPets: number): CheckedPet[] {
  const isArray = Array.isArray(seed);
  const length = isArray ? seed.length : seed;
  if (
    typeof length !== "number" || !Number.isSafeInteger(length) ||
    length < 0 || length > maxPets
  ) {
    throw new TypeError(
      `Cannot seed pets: it must be an array of NewPet, or their number, at most ${maxPets}`,
    );
  }
  return Array.from({ length }, (_, i) => {
    const given: unknown = isArray ? seed[i] : {
      name: NAMES[i % NAMES.length],
      categoryId: CATEGORIES[i % CATEGORIES.length],
      status: PET_STATUSES[i % PET_STATUSES.length],
    };
    const pet = parseNewPet(given);
    const { id = i + 1 } = Object(given); // the pets of a list may be the seed
    const isRefused = pet instanceof Refusal;
    if (!isRefused && String(id) === String(i + 1)) return pet;
    const reason = isRefused
      ? pet.message.replace("Cannot create pet: ", "")
      : `id must be ${i + 1}, or missing`;
    throw new TypeError(`Cannot seed pets: pet ${i + 1}: ${reason}`);
  });
}
