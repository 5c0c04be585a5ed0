/**
 * An animal as a bare loop makes it of a row of its driver.
 *
 * @module
 */

import { PET_STATUSES } from "../../../core/pets/pet.ts";

/** The columns of an animal, in the order that {@linkcode barePet} reads them. */
export const COLUMNS = "id, name, category_id, status";

/** Makes an animal of a row, and checks nothing. */
export function barePet(row: unknown): unknown {
  const [id, name, categoryId, code] = row as readonly [
    bigint,
    string,
    bigint,
    bigint | number,
  ];
  return { id, name, categoryId, status: PET_STATUSES[Number(code)] };
}
