/**
 * The statuses of the animals in storages of different sizes: two that half of them have, and a rare one.
 *
 * @module
 */

import type { PetStatus } from "../../../core/pets/pet.ts";

/** The status that few have. */
export const RARE: PetStatus = "sold";

/** How many have it, at every size: the more animals there are, the further they are from each other. */
export const RARE_ANIMALS = 100;

/** The status of the `n`-th of `animals`, from 1. */
export function statusOf(n: number, animals: number): PetStatus {
  if (n % (animals / RARE_ANIMALS) === 0) return RARE;
  return n % 2 === 0 ? "available" : "pending";
}

/** The same as an SQL expression, of a column `n`; with the numbers that databases store. */
export function statusSql(animals: number): string {
  return `CASE WHEN n % ${animals / RARE_ANIMALS} = 0 THEN 2 ELSE n % 2 END`;
}
