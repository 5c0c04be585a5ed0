/** The tables, in SQLite's SQL. */

/**
 * The version of the tables. Raise it when {@linkcode TABLES} changes, unless only columns are
 * added: those go to `ADDED_COLUMNS` too.
 */
export const SCHEMA_VERSION = 1;

/** Creates the tables. AUTOINCREMENT ensures that the id of a deleted row is never reused. */
export const TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS pets (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      category_id INTEGER NOT NULL,
      status INTEGER NOT NULL CHECK (status IN (0, 1, 2))
    ) STRICT`,
  "CREATE INDEX IF NOT EXISTS pets_by_status ON pets (status, id)",
  `CREATE TABLE IF NOT EXISTS api_keys (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      created INTEGER NOT NULL,
      revoked INTEGER,
      expires INTEGER,
      last_used INTEGER
    ) STRICT`,
  `CREATE TABLE IF NOT EXISTS idempotency_keys (
      key TEXT PRIMARY KEY,
      pet_id INTEGER NOT NULL,
      created INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS idempotency_keys_by_created
      ON idempotency_keys (created)`,
];
