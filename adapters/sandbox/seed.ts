/** The pets that a sandbox starts with. */

import { INT64_MAX, INT64_MIN, PET_STATUSES } from "../../core/kit.ts";
import { checkSeed, type Seed } from "../storage/memory/seed.ts";

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
 * Makes a seed of a number of pets, which are always the same, or of an array of them.
 *
 * @param nextId the id of the first pet that is added. Default: the next.
 * @throws {TypeError} if the pets are neither, there are more than `maxPets`, or a pet or `nextId`
 * is wrong. The message names the pet and the member.
 */
export function makeSeed(
  given: unknown,
  maxPets: number,
  nextId?: unknown,
): Seed {
  const length = Array.isArray(given) ? given.length : given;
  if (
    typeof length !== "number" || !Number.isSafeInteger(length) ||
    length < 0 || length > maxPets
  ) {
    throw new TypeError(
      `Cannot seed pets: it must be an array of NewPet, or their number, at most ${maxPets}`,
    );
  }
  const pets = Array.isArray(given) ? given : Array.from({ length }, usualPet);
  return checkSeed(pets, nextId);
}

function usualPet(_: unknown, i: number): unknown {
  return {
    name: NAMES[i % NAMES.length],
    categoryId: CATEGORIES[i % CATEGORIES.length],
    status: PET_STATUSES[i % PET_STATUSES.length],
  };
}
