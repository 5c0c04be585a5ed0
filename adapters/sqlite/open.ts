/**
 * Opening an SQLite file: its settings, its tables, and why it cannot be opened.
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
import { patiently, SqliteFile } from "./file.ts";
import { readVersion, upgradeSchema } from "./schema.ts";

/**
 * How much of the file a connection may keep in memory, in KiB. SQLite's own 2000 cannot hold the pages
 * of a thousand pets spread over a million: with this they are read in two thirds of the time, and four
 * times as much gains nothing (`deno task bench sizes`).
 */
const CACHE_SIZE = 16_000;

/** `read` also accepts a file that cannot be written. */
export type Access = "read" | "write";

/**
 * Opens a file; if it is missing, creates it and its tables. Any number of processes may do so at
 * once.
 *
 * @param lockTimeout how long to wait for other processes that lock the file, in ms.
 * @throws {StorageError} `unavailable` if it cannot be used; the message says why.
 */
export async function openSqliteFile(
  path: string,
  lockTimeout: number,
  access: Access,
): Promise<SqliteFile> {
  try {
    return await patiently(lockTimeout, () => {
      createPrivate(path);
      const db = new DatabaseSync(path);
      try {
        setUp(db, access);
        return new SqliteFile(path, db, lockTimeout);
      } catch (error) {
        db.close();
        throw error;
      }
    });
  } catch (error) {
    const message = `Cannot open ${path}: ${openReason(path, error)}`;
    throw new StorageError("unavailable", message, { cause: error });
  }
}

/** SQLite would let others read the file. It gives the files beside it the same mode. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // It exists, or cannot be created: SQLite says which.
  }
}

function setUp(db: DatabaseSync, access: Access): void {
  db.prepare("PRAGMA busy_timeout = 0").get();
  // First, because the file may not be ours; in a transaction, because another process may be creating
  // the tables.
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
  db.prepare("BEGIN IMMEDIATE").run();
  if (access === "write" || readVersion(db) === 0) upgradeSchema(db);
  // In a file that may only be read, BEGIN IMMEDIATE succeeds, and this fails.
  if (access === "write") db.prepare("DELETE FROM pets WHERE false").run();
  db.prepare("COMMIT").run();
}

/** SQLite only says "unable to open database file". */
function openReason(path: string, error: unknown): string {
  const file = resolve(path);
  if (error instanceof Error && error.name === "NotCapable") {
    const directory = dirname(file);
    return `Deno does not permit it; run with --allow-read=${directory} --allow-write=${directory}`;
  }
  if (!(error instanceof Error)) return String(error);
  return (isAccessFault(error) ? accessReason(file) : undefined) ??
    faultReason(error) ?? error.message;
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
    const code = cause instanceof Error && "code" in cause ? cause.code : "";
    if (code === "ENOENT") {
      return `the directory ${directory} does not exist; create it first`;
    }
    if (code === "EACCES") {
      return `this user must be able to read and write ${path}; change its owner or mode`;
    }
  }
  return undefined;
}
