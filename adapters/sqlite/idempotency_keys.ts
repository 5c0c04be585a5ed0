/**
 * Which pets were added with which idempotency keys, in an SQLite file.
 *
 * @module
 */

import type { Pet, PetId } from "../../core/pets/pet.ts";
import { PET_COLUMNS, toPet } from "../database/stored_row.ts";
import type { SqliteFile } from "./file.ts";

/** The records of keys, to be used inside a transaction. */
export interface SqliteIdempotencyKeys {
  /** The pet that was added with a key; `undefined` if there is none, or that was too long ago. */
  find(key: string): Pet | undefined;
  /** Keeps the pet of a key, in place of one that was added too long ago. */
  keep(key: string, id: PetId): void;
}

/** @param retention how long a key is kept, in ms. */
export function sqliteIdempotencyKeys(
  file: SqliteFile,
  retention: number,
): SqliteIdempotencyKeys {
  const find = file.prepare(
    `SELECT ${PET_COLUMNS} FROM pets WHERE id =
      (SELECT pet_id FROM idempotency_keys WHERE key = ? AND created > ?)`,
  );
  const keep = file.prepare("REPLACE INTO idempotency_keys VALUES (?, ?, ?)");
  const forget = file.prepare(
    `DELETE FROM idempotency_keys WHERE key IN (SELECT key
      FROM idempotency_keys WHERE created <= ? ORDER BY created LIMIT 2)`,
  );
  return {
    find(key) {
      const row = find.get(key, Date.now() - retention);
      return row === undefined ? undefined : toPet(row);
    },

    keep(key, id) {
      const now = Date.now();
      // Two go for each that comes, so that the table shrinks without holding anything up.
      forget.run(now - retention);
      keep.run(key, id, now);
    },
  };
}
