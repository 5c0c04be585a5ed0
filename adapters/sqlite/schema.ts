/**
 * The tables of the SQLite file, and the marks by which the file is known as ours.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";

/** `PRAGMA application_id` of our files: "PETS" in ASCII. */
export const APPLICATION_ID = 0x50455453;

/** `PRAGMA user_version` of the files that this code reads and writes. */
export const SCHEMA_VERSION = 1;

// AUTOINCREMENT keeps the id of a deleted row out of use.
const SCHEMA: readonly string[] = [
  `CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status INTEGER NOT NULL CHECK (status IN (0, 1, 2))
  ) STRICT`,
  "CREATE INDEX pets_by_status ON pets (status, id)",
  `CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    revoked INTEGER
  ) STRICT`,
  `PRAGMA application_id = ${APPLICATION_ID}`,
  `PRAGMA user_version = ${SCHEMA_VERSION}`,
];

/**
 * Tells whether the database is ours and complete (`true`) or new and empty (`false`). Changes
 * nothing. To be called inside a transaction, so that all it reads is of one moment.
 *
 * @throws {Error} where it belongs to another program, or to a later version of this one.
 */
export function hasSchema(db: DatabaseSync): boolean {
  const applicationId = readNumber(db, "PRAGMA application_id");
  const version = readNumber(db, "PRAGMA user_version");
  if (applicationId === APPLICATION_ID) {
    if (version === SCHEMA_VERSION) return true;
    throw new Error(
      `its schema is version ${version}, and this program knows version ${SCHEMA_VERSION}; ` +
        "use the version of the program that wrote it, or a later one",
    );
  }
  const tables = readNumber(db, "SELECT count(*) FROM sqlite_schema");
  if (applicationId === 0 && version === 0 && tables === 0) return false;
  throw new Error(
    "it is the database of another program; nothing in it was changed",
  );
}

/** Creates the tables in a new database, inside a transaction that is under way. */
export function createSchema(db: DatabaseSync): void {
  // On Deno an error of db.exec() carries no result code; that of a statement does.
  for (const sql of SCHEMA) db.prepare(sql).run();
}

function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}
