/** The pets that a sandbox begins with. */

import { INT64_MAX, INT64_MIN, literalToInt64 } from "../../core/json.ts";
import { Refusal } from "../../core/http/refusal.ts";
import { shown } from "../../core/options.ts";
import { parseNewPet } from "../../core/pets/new_pet.ts";
import { type CheckedPet, PET_STATUSES } from "../../core/pets/pet.ts";

/** Names that clients get wrong: scripts, accents in one and in two code points, quotes, the longest. */
const NAMES: readonly string[] = [
  "Rex",
  "Zo\u00eb", // composed
  "Zoe\u0308", // decomposed
  "小白",
  "Мурка",
  `O'Malley "the Cat"`,
  "مشمش",
  "🐶",
  "ポチ",
  "👩‍🦰🐈‍⬛", // several code points for each of two characters
  "<b>Rex</b> &amp; 100%25 \\n",
  "바둑이",
  " Spot ",
  "שוקו",
  "null",
  "Ν\u0345\u0301\u200d\ufeff",
  "🐾".repeat(255), // 510 UTF-16 code units
];

/** On both sides of 2⁵³, where a double is no longer exact, and of 0. */
const CATEGORIES: readonly bigint[] = [
  1n,
  0n,
  2n ** 53n + 1n,
  -1n,
  2n ** 53n - 1n,
  INT64_MAX,
  2n ** 53n,
  -(2n ** 53n) - 1n,
  INT64_MIN,
  7n,
];

/**
 * Makes the pets of a seed: so many, always the same, or those of an array.
 *
 * @throws {TypeError} if it is neither, or a pet is invalid; the message names the pet and the member.
 * @throws {RangeError} if there are more than `maxPets`.
 */
export function makeSeed(
  seed: unknown,
  maxPets: number,
): readonly CheckedPet[] {
  const isNumber = Number.isSafeInteger(seed) && Number(seed) >= 0;
  if (!isNumber && !Array.isArray(seed)) {
    throw new TypeError(
      `Cannot seed pets: it must be a number of pets, or an array of NewPet, not ${
        shown(seed)
      }`,
    );
  }
  const length = Array.isArray(seed) ? seed.length : Number(seed);
  if (length > maxPets) {
    throw new RangeError(
      `Cannot seed pets: ${length} are more than the maximum of ${maxPets}`,
    );
  }
  const pets: readonly unknown[] = Array.isArray(seed)
    ? seed
    : Array.from({ length }, (_, i) => ({
      name: NAMES[i % NAMES.length],
      categoryId: CATEGORIES[i % CATEGORIES.length],
      status: PET_STATUSES[i % PET_STATUSES.length],
    }));
  return pets.map((pet, i) => {
    const checked = parseNewPet(pet);
    if (!(checked instanceof Refusal)) return checked;
    const reason = checked.message.replace(/^[^:]*: /, "");
    throw new TypeError(`Cannot seed pets: pet ${i + 1}: ${reason}`);
  });
}

/**
 * Parses JSON in which each `categoryId` that is an int64 becomes a `bigint`, exact to the last digit.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parsePets(text: string): unknown {
  // TypeScript 6 does not know the third argument of a reviver.
  const revive = (
    key: string,
    value: unknown,
    context?: { readonly source: string },
  ): unknown =>
    key === "categoryId" && typeof value === "number"
      ? literalToInt64(String(context?.source)) ?? value
      : value;
  return JSON.parse(text, revive);
}
