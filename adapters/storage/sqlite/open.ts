/** Opens an SQLite file: sets it up, creates its tables, and explains why it cannot be opened. */

import {
  closeSync,
  existsSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  addColumn,
  ADDED_COLUMNS,
  type AddedColumn,
  ADDS_COLUMNS,
  assertVersion,
  lacksColumns,
  NO_TABLES,
  storageError,
} from "../pet_database.ts";
import { SCHEMA_VERSION, TABLES } from "../sqlite_tables.ts";
import type { Access } from "../transfer.ts";
import { accessReason, faultReason, isBusy, isLockFault } from "./fault.ts";
import { retryWhileLocked, SqliteDatabase } from "./database.ts";
import { loadSqlite, SqliteFile } from "./file.ts";

/** `PRAGMA application_id` of our files: "PETS" in ASCII. */
const APPLICATION_ID = 0x50455453n;

// They apply to COMMIT too: Node 26 throws after it if the last id does not fit a number
// (nodejs/node#65177, as documented; tested by tests/adapters/storage/sqlite/faults_test.ts). An
// `object`, because Deno 2.9 has no types for them.
export const OPTIONS: object = { readBigInts: true, returnArrays: true };

/**
 * Opens a file. Creates it, its tables and their newest columns if they are missing. Any number of
 * processes may do so at the same time.
 *
 * @param access `read` also accepts a file that cannot be written, if it is in WAL mode already,
 * but not one that lacks tables or columns.
 * @throws {StorageError} `unavailable` if it cannot be used; the message says why.
 */
export function openSqliteFile(
  path: string,
  lockTimeout: number,
  access: Access,
): Promise<SqliteDatabase> {
  const file = followLinks(path); // `path` is only for messages from here on
  const open = () => {
    const { DatabaseSync } = loadSqlite(); // first, so that nothing is made without it
    assertNoLogAlone(file);
    if (access === "write") createPrivate(file);
    else if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      throw new Error("there is no such file");
    }
    assertOneName(file);
    if (findMissing(file) !== undefined) assertUnused(file, access);
    const db = new DatabaseSync(file, OPTIONS);
    try {
      setUp(db, access);
      warnIfMountedAlone(file);
      return new SqliteDatabase(new SqliteFile(file, db), lockTimeout);
    } catch (error) {
      db.close();
      throw error;
    }
  };
  const explain = (error: unknown) =>
    storageError("unavailable", `open ${path}`, openReason(file, error), error);
  return retryWhileLocked(lockTimeout, open, explain);
}

/**
 * Checks that no log is left of a file that is missing or empty: SQLite would delete the log. A
 * process that makes a new file fills it before it makes the log.
 *
 * @throws {Error} if there is such a log.
 */
function assertNoLogAlone(file: string): void {
  if (!existsSync(`${file}-wal`)) return;
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== undefined && size > 0) return;
  const what = size === undefined ? "missing" : "empty";
  throw new Error(
    `the file is ${what}, but ${file}-wal may hold pets; put the same file back; before you restore a backup, move the log away`,
  );
}

/**
 * Creates a file that only its owner can read, unless it exists: SQLite would let others read it
 * (its document Compile-time Options, SQLITE_DEFAULT_FILE_PERMISSIONS; tested by
 * tests/adapters/storage/sqlite/permission_test.ts). SQLite gives its other files the same mode.
 */
function createPrivate(file: string): void {
  try {
    // `wx` does not open an existing file: closing it would release the locks that this process has
    // on it (SQLite's document How To Corrupt, "Posix advisory locks canceled").
    closeSync(openSync(file, "wx", 0o600));
  } catch { /* It exists, or SQLite will fail too. */ }
}

/**
 * Checks that the file has no other name. SQLite finds the log by the file's name, so a process
 * that uses another name would not see the log (its document How To Corrupt, "Multiple links to the
 * same file").
 *
 * @throws {Error} if it has hard links.
 */
function assertOneName(file: string): void {
  if (!existsSync(file)) return;
  const stats = statSync(file);
  if (stats.isFile() && stats.nlink > 1) {
    throw new Error(
      `the file has ${stats.nlink} names (hard links), and each would have a log of its own; keep one name, or make a copy`,
    );
  }
}

/** Only a warning: on overlay file systems every file's device differs from its directory's. */
function warnIfMountedAlone(file: string): void {
  if (statSync(file).dev === statSync(dirname(file)).dev) return;
  console.warn(
    `${file} is on another file system than its folder. If it is mounted without its folder, pets will be lost: mount the folder`,
  );
}

/**
 * Returns where symbolic links lead, even if no file exists there. SQLite follows as many, but Deno
 * would not check whether it permits what is there.
 */
export function followLinks(path: string): string {
  let file = path;
  try {
    for (let links = 0; links < 200; links++) {
      const folder = realpathSync(dirname(file));
      file = resolve(folder, basename(file));
      file = resolve(folder, readlinkSync(file));
    }
  } catch { /* It is not a link. */ }
  return resolve(file);
}

/**
 * Fails as if the file were locked if another process has it open. That process has lost its log or
 * index, and what is written to new ones would be lost when it ends (SQLite's document How To
 * Corrupt, "Unlinking or renaming a database file while in use").
 *
 * Fails also if this user may not write the file, but should. The real open would leave a log and
 * an index that belong to this user, so that the file's owner could no longer open it.
 */
function assertUnused(file: string, access: Access): void {
  const db = new (loadSqlite().DatabaseSync)(file);
  try {
    db.prepare("PRAGMA locking_mode = EXCLUSIVE").get();
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch (error) {
    if (isBusy(error) || access === "write" && isLockFault(error)) throw error;
    // The real open reports any other error.
  } finally {
    db.close();
  }
}

/** Finds the log or the index if it is missing. Both exist while any process has the file open. */
function findMissing(file: string): string | undefined {
  return [`${file}-wal`, `${file}-shm`].find((beside) => !existsSync(beside));
}

function setUp(db: DatabaseSync, access: Access): void {
  // Checked first, because the file may belong to another program, and in a transaction, because
  // another process may be creating the tables.
  db.prepare("BEGIN").run();
  const isNew = !hasTables(db);
  if (access === "read") assertComplete(db, isNew);
  db.prepare("COMMIT").run();
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.[0];
  if (mode !== "wal") {
    throw new Error(
      "its file system does not support SQLite's write-ahead log; use a local disk",
    );
  }
  db.prepare("PRAGMA synchronous = FULL").run();
  // On macOS a plain fsync leaves the data in the drive's cache; elsewhere these change nothing
  // (SQLite's document PRAGMA, `fullfsync`).
  db.prepare("PRAGMA fullfsync = ON").run();
  db.prepare("PRAGMA checkpoint_fullfsync = ON").run();
  // In bytes. The log grows while any process reads an old state; afterwards it shrinks to this.
  db.prepare("PRAGMA journal_size_limit = 16000000").get();
  // In KiB, enough for the pages of a thousand pets spread over a million.
  db.prepare("PRAGMA cache_size = -16000").run();
  // From here on the log and its index exist, so that they can be watched.
  db.prepare("BEGIN IMMEDIATE").run();
  if (!hasTables(db)) {
    // Not with db.exec(), whose errors have no result code on Deno 2.9 (denoland/deno#28289).
    for (const sql of TABLES) db.prepare(sql).run();
    db.prepare(`PRAGMA application_id = ${APPLICATION_ID}`).run();
    db.prepare(`PRAGMA user_version = ${SCHEMA_VERSION}`).run();
  }
  // In a file that is read-only for this user, BEGIN IMMEDIATE succeeds, and this fails.
  if (access === "write") {
    db.prepare("DELETE FROM pets WHERE false").run();
    for (const added of missingColumns(db)) {
      db.prepare(addColumn(added, "INTEGER")).run();
    }
  }
  db.prepare("COMMIT").run();
}

/** @throws {Error} if a database that is only read lacks tables or columns. */
function assertComplete(db: DatabaseSync, isNew: boolean): void {
  if (isNew) throw new Error(NO_TABLES);
  const missing = missingColumns(db);
  if (missing.length === 0) return;
  throw new Error(`${lacksColumns(missing)}, ${ADDS_COLUMNS}`);
}

function missingColumns(db: DatabaseSync): readonly AddedColumn[] {
  const look = db.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return ADDED_COLUMNS.filter(({ table, column }) =>
    look.get(table, column) === undefined
  );
}

/**
 * Tells whether the database has our tables; false if it is empty. Call it inside a transaction, so
 * that it reads one state.
 *
 * @throws {Error} if the database belongs to another program, or to another version of this one.
 */
function hasTables(db: DatabaseSync): boolean {
  const row: unknown = db.prepare(
    `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
      FROM pragma_application_id, pragma_user_version`,
  ).get();
  const [id, version, tables] = row as readonly bigint[];
  if (id === APPLICATION_ID) {
    assertVersion(Number(version), SCHEMA_VERSION);
    return true;
  }
  if (id === 0n && version === 0n && tables === 0n) return false;
  throw new Error(
    "it is the database of another program; nothing in it was changed",
  );
}

/** Explains why a file cannot be opened. SQLite 3.53 only says "unable to open database file". */
function openReason(file: string, error: unknown): string {
  const { name, message } = error as Error; // nothing else is thrown
  if (name === "NotCapable") {
    const directory = dirname(file);
    const flags = file.startsWith("/dev/")
      ? "--allow-all, which Deno demands for all that is in /dev"
      : `--allow-read=${directory} --allow-write=${directory}`;
    return `Deno does not permit it; run with ${flags}`;
  }
  const reason = accessReason(file, error) ?? faultReason(error) ?? message;
  const missing = isBusy(error) ? findMissing(file) : undefined;
  return missing === undefined
    ? reason
    : `${reason}, and ${missing} is missing: restart that process first`;
}
