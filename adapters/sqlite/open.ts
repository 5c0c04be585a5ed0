/**
 * Opening an SQLite file: its settings, its tables, and the reason where it cannot be opened.
 *
 * @module
 */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { faultReason, isAccessFault } from "./fault.ts";
import { SqliteFile } from "./file.ts";
import { patiently } from "./patience.ts";
import { readVersion, upgradeSchema } from "./schema.ts";

// SQLite's own 2000 does not hold what a thousand animals need that are spread over a million: with this
// they are read in two thirds of the time. Four times as much gains nothing (`deno task bench sizes`).
/** The most that a connection keeps of the file in memory, in KiB. */
const CACHE_SIZE = 16_000;

/**
 * Opens a file; where there is none, creates it and its tables. Any number of processes may do so at
 * once.
 *
 * @param lockTimeout how long to go on trying while other processes keep the file locked, in ms.
 * @throws {StorageError} `unavailable` where it cannot be used; the message says why.
 */
export async function openSqliteFile(
  path: string,
  lockTimeout: number,
): Promise<SqliteFile> {
  try {
    return await patiently(lockTimeout, () => connect(path, lockTimeout));
  } catch (error) {
    const message = `Cannot open ${path}: ${openReason(path, error)}`;
    throw new StorageError("unavailable", message, { cause: error });
  }
}

function connect(path: string, lockTimeout: number): SqliteFile {
  createPrivate(path);
  const db = new DatabaseSync(path);
  try {
    setUp(db);
    return new SqliteFile({ path, db, lockTimeout });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite would make the file readable by all. It gives those beside it the same mode. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It is there, or cannot be made: SQLite says which.
  }
}

function setUp(db: DatabaseSync): void {
  db.prepare("PRAGMA busy_timeout = 0").get();
  // Looked at before anything is changed, because it may not be ours; and in a transaction, because
  // another process may be creating the tables just now.
  db.prepare("BEGIN").run();
  readVersion(db);
  db.prepare("COMMIT").run();
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") {
    throw new Error(
      "its file system does not support SQLite's write-ahead log; use a local disk",
    );
  }
  db.prepare("PRAGMA synchronous = FULL").run();
  // On macOS a plain fsync leaves the data in the drive's cache; elsewhere these change nothing.
  db.prepare("PRAGMA fullfsync = ON").run();
  db.prepare("PRAGMA checkpoint_fullfsync = ON").run();
  db.prepare(`PRAGMA cache_size = -${CACHE_SIZE}`).run();
  // Every time, because it also shows that the file can be written.
  db.prepare("BEGIN IMMEDIATE").run();
  upgradeSchema(db);
  db.prepare("COMMIT").run();
}

/** Says what SQLite does not: it only tells "unable to open database file". */
function openReason(path: string, error: unknown): string {
  const file = resolve(path);
  const directory = dirname(file);
  if (error instanceof Error && error.name === "NotCapable") {
    return `Deno does not permit it; run with --allow-read=${directory} --allow-write=${directory}`;
  }
  if (isAccessFault(error)) {
    if (!existsSync(directory) || !statSync(directory).isDirectory()) {
      return `there is no directory ${directory}`;
    }
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
      return "it is a directory";
    }
    const readOnly = [directory, file].find(isReadOnly);
    if (readOnly !== undefined) return `${readOnly} is read-only`;
  }
  if (!(error instanceof Error)) return String(error);
  return faultReason(error) ?? error.message;
}

// On Deno this looks at the mode and the owner only, and does not see that a whole disk is read-only.
function isReadOnly(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}
