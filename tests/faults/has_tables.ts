/**
 * Whether a standby has what the primary wrote when it was opened.
 *
 * @module
 */

import type { Standby } from "../support/postgres/standby.ts";

/** Tells whether a standby has the tables of the pet store, in this database. */
export async function hasTables(
  standby: Standby,
  database: string,
): Promise<boolean> {
  try {
    const look = "select from petstore_schema";
    return (await standby.query(look, { database })).length === 1;
  } catch {
    // The database itself may not be there yet.
    return false;
  }
}
