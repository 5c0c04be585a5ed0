/**
 * The tables of the SQLite file, and the marks that tell it is ours.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";

/** `PRAGMA application_id` of our files: "PETS" in ASCII. */
export const APPLICATION_ID = 0x50455453;

/** The statements of each version. AUTOINCREMENT: the id of a deleted row is not given again. */
const VERSIONS: readonly (readonly string[])[] = [
  [
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
  ],
  [
    `CREATE TABLE idempotency_keys (
      key TEXT PRIMARY KEY,
      pet_id INTEGER NOT NULL,
      created INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX idempotency_keys_by_created ON idempotency_keys (created)",
  ],
];

/** `PRAGMA user_version` of the files that this code reads and writes. */
export const SCHEMA_VERSION: number = VERSIONS.length;

/**
 * The version of the tables; 0 if the database is new and empty. Call it inside a transaction, so
 * that all it reads is of one moment.
 *
 * @throws {Error} if the database belongs to another program, or to a later version of this one.
 */
export function readVersion(db: DatabaseSync): number {
  const applicationId = readNumber(db, "PRAGMA application_id");
  const version = readNumber(db, "PRAGMA user_version");
  if (applicationId === APPLICATION_ID) {
    if (version >= 1 && version <= SCHEMA_VERSION) return version;
    throw new Error(
      `its schema is version ${version}, and this program knows version ${SCHEMA_VERSION}; ` +
        "use the version of the program that wrote it, or a later one",
    );
  }
  const tables = readNumber(db, "SELECT count(*) FROM sqlite_schema");
  if (applicationId === 0 && version === 0 && tables === 0) return 0;
  throw new Error(
    "it is the database of another program; nothing in it was changed",
  );
}

/** Creates or upgrades the tables, inside a transaction of the caller. */
export function upgradeSchema(db: DatabaseSync): void {
  const version = readVersion(db);
  if (version === SCHEMA_VERSION) return;
  // On Deno an error of db.exec() carries no result code; that of a statement does.
  for (const sql of VERSIONS.slice(version).flat()) db.prepare(sql).run();
  db.prepare(`PRAGMA user_version = ${SCHEMA_VERSION}`).run();
}

function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}
