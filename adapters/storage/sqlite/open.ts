/** Opening an SQLite file: its settings, its tables, and why it cannot be opened. */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Access } from "../transfer.ts";
import { SCHEMA_VERSION, TABLES } from "../sqlite_tables.ts";
import { fault, faultReason, isAccessFault, isBusy } from "./fault.ts";
import { retryWhileLocked, SqliteFile } from "./file.ts";
import { assertVersion, NO_TABLES } from "../pet_database.ts";

/** `PRAGMA application_id` of our files: "PETS" in ASCII. */
const APPLICATION_ID = 0x50455453;

/**
 * Opens a file; creates it and its tables if they are missing. Any number of processes may do so at once.
 *
 * @param access `read` also accepts a file that cannot be written, but none without tables.
 * @throws {StorageError} `unavailable` if it cannot be used; the message says why.
 */
export function openSqliteFile(
  path: string,
  lockTimeout: number,
  access: Access,
): Promise<SqliteFile> {
  const open = () => {
    if (access === "write") createPrivate(path);
    else if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      throw new Error("there is no such file");
    }
    const file = followLinks(path);
    assertOneName(file);
    if (missingBeside(file) !== undefined) assertUnused(path);
    const db = new DatabaseSync(path);
    try {
      setUp(db, access);
      return new SqliteFile(path, db, lockTimeout);
    } catch (error) {
      db.close();
      throw error;
    }
  };
  const explain = (error: unknown) =>
    fault("unavailable", `open ${path}`, openReason(path, error), error);
  return retryWhileLocked(lockTimeout, open, explain);
}

/**
 * SQLite would let others read the file (its document Compile-time Options, SQLITE_DEFAULT_FILE_PERMISSIONS; the test
 * is tests/adapters/storage/sqlite/permission_test.ts). It gives the files beside it the same mode.
 *
 * @throws {Error} if the file is gone but its log is there: with a new file SQLite would empty the log.
 */
function createPrivate(path: string): void {
  const file = followLinks(path);
  if (existsSync(`${file}-wal`) && !existsSync(file)) {
    throw new Error(
      `the file is gone, but ${file}-wal is there, which may have pets of it; put the same file back; before you restore a backup, move the log away`,
    );
  }
  try {
    // Not a file that exists: closing it would end the locks that this process has on it (SQLite's document How To
    // Corrupt, "Posix advisory locks canceled").
    closeSync(openSync(file, "wx", 0o600));
  } catch { /* It exists, or cannot be created: SQLite says which. */ }
}

/**
 * SQLite finds the log by the name of the file (its document How To Corrupt, "Multiple links to the same file").
 *
 * @throws {Error} if the file has another name, by which others would not see the log.
 */
function assertOneName(file: string): void {
  if (!existsSync(file)) return;
  const stats = statSync(file);
  if (!stats.isFile()) return;
  const { nlink, dev } = stats;
  if (nlink > 1) {
    throw new Error(
      `the file has ${nlink} names (hard links), and each would have a log of its own; keep one name, or make a copy`,
    );
  }
  // Not an error: on overlay file systems this holds of every file.
  if (dev !== statSync(dirname(file)).dev) {
    console.warn(
      `${file} is on another file system than its folder. If it is mounted without its folder, pets will be lost: mount the folder`,
    );
  }
}

/** Returns where symbolic links lead, even if no file is there yet. SQLite follows as many. */
function followLinks(path: string): string {
  let file = path;
  try {
    for (let links = 0; links < 200; links++) {
      file = resolve(realpathSync(dirname(file)), readlinkSync(file));
    }
  } catch { /* It is no link. */ }
  return file;
}

/**
 * Fails as a locked file does if another process has the file open: its log or index was deleted then, and
 * what is written with new ones would be lost when that process ends (SQLite's document How To Corrupt, "Unlinking or
 * renaming a database file while in use").
 */
function assertUnused(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.prepare("PRAGMA locking_mode = EXCLUSIVE").get();
    readNumber(db, "SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    if (isBusy(error)) throw error; // Other errors come again.
  } finally {
    db.close();
  }
}

/** Returns the log or the index if it is missing: while somebody has the file open, both are there. */
function missingBeside(file: string): string | undefined {
  return [`${file}-wal`, `${file}-shm`].find((beside) => !existsSync(beside));
}

function setUp(db: DatabaseSync, access: Access): void {
  // First, because the file may not be ours; in a transaction, because another process may be creating
  // the tables.
  db.prepare("BEGIN").run();
  if (!hasTables(db) && access === "read") throw new Error(NO_TABLES);
  db.prepare("COMMIT").run();
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") {
    throw new Error(
      "its file system does not support SQLite's write-ahead log; use a local disk",
    );
  }
  db.prepare("PRAGMA synchronous = FULL").run();
  // On macOS a plain fsync leaves the data in the drive's cache; elsewhere these change nothing (SQLite's document
  // PRAGMA, `fullfsync`).
  db.prepare("PRAGMA fullfsync = ON").run();
  db.prepare("PRAGMA checkpoint_fullfsync = ON").run();
  // In bytes: while anybody reads an old state, the log only grows; afterwards it shrinks to this.
  db.prepare("PRAGMA journal_size_limit = 16000000").get();
  // In KiB: room for the pages of a thousand pets spread over a million.
  db.prepare("PRAGMA cache_size = -16000").run();
  db.prepare("BEGIN IMMEDIATE").run();
  if (!hasTables(db)) {
    // On Deno 2.9 an error of db.exec() has no result code; that of a statement does (denoland/deno#28289).
    for (const sql of TABLES) db.prepare(sql).run();
    db.prepare(`PRAGMA application_id = ${APPLICATION_ID}`).run();
    db.prepare(`PRAGMA user_version = ${SCHEMA_VERSION}`).run();
  }
  // In a file that may only be read, BEGIN IMMEDIATE succeeds, and this fails.
  if (access === "write") db.prepare("DELETE FROM pets WHERE false").run();
  db.prepare("COMMIT").run();
}

/**
 * Finds out if the tables exist; not if the database is new and empty. Call it inside a transaction,
 * so that all it reads is of one moment.
 *
 * @throws {Error} if the database belongs to another program, or to another version of this one.
 */
function hasTables(db: DatabaseSync): boolean {
  const applicationId = readNumber(db, "PRAGMA application_id");
  const version = readNumber(db, "PRAGMA user_version");
  if (applicationId === APPLICATION_ID) {
    assertVersion(version, SCHEMA_VERSION);
    return true;
  }
  const tables = readNumber(db, "SELECT count(*) FROM sqlite_schema");
  if (applicationId === 0 && version === 0 && tables === 0) return false;
  throw new Error(
    "it is the database of another program; nothing in it was changed",
  );
}

function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}

/** SQLite 3.53 only says "unable to open database file". */
function openReason(path: string, error: unknown): string {
  const { name, message } = error as Error; // nobody throws anything else
  const file = resolve(followLinks(path));
  if (name === "NotCapable") {
    const directory = dirname(file);
    return `Deno does not permit it; run with --allow-read=${directory} --allow-write=${directory}`;
  }
  const reason = (isAccessFault(error) ? accessReason(file) : undefined) ??
    faultReason(error) ?? message;
  const missing = isBusy(error) ? missingBeside(file) : undefined;
  return missing === undefined
    ? reason
    : `${reason}, and ${missing} is missing: restart that process first`;
}

/** Finds out why a file cannot be opened or written. */
function accessReason(file: string): string | undefined {
  const directory = dirname(file);
  let path = directory;
  try {
    if (!statSync(directory).isDirectory()) {
      return `${directory} is not a directory`;
    }
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
      return "it is a directory";
    }
    accessSync(directory, constants.W_OK);
    for (path of [file, `${file}-wal`, `${file}-shm`].filter(existsSync)) {
      accessSync(path, constants.R_OK | constants.W_OK);
    }
  } catch (cause) {
    const { code } = cause as { readonly code?: string };
    if (code === "ENOENT") {
      return `the directory ${directory} does not exist; create it first`;
    }
    if (code === "EACCES") {
      return `this user must be able to read and write ${path}; change its owner or mode`;
    }
  }
  return undefined;
}
