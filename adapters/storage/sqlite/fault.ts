/**
 * Explains errors of SQLite, and translates its result codes for the storage port.
 *
 * @see https://sqlite.org/rescode.html
 */

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { StorageError } from "../../../core/storage.ts";
import { storageError } from "../pet_database.ts";

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;
/**
 * No space for the index of the log (SQLite's document Result Codes, SQLITE_IOERR_SHMSIZE). A
 * commit fails with it when it is already in the log. Readers do not see it, and the next commit
 * overwrites it; but if the process is killed before that, whoever opens the file next finds it
 * (seen in SQLite 3.53; tested by tests/adapters/storage/sqlite/disk_test.ts).
 */
const IOERR_SHMSIZE = 4874;
/**
 * A lock failed, although no other process has one (SQLite's document Result Codes,
 * SQLITE_IOERR_LOCK): SQLite could open the file for reading only, or there are no locks.
 */
const IOERR_LOCK = 3850;
/**
 * A write failed, for example with EFBIG because the file reached a size limit (`ulimit -f`).
 * SQLite does not say which error it was. The transaction does not count, so writing may continue
 * once there is space, as after a full disk.
 */
const IOERR_WRITE = 778;

/**
 * The log ends before its index says, because it is not the log that other processes write to
 * (SQLite's document Result Codes, SQLITE_IOERR_SHORT_READ).
 */
const IOERR_SHORT_READ = 522;

const IS_FULL = "the disk is full";
/**
 * By primary code, and by extended codes whose meaning differs from that of their primary code:
 * these no longer count as it, so `isFatal` names those that are fatal.
 */
const REASONS: Readonly<Record<number, string>> = {
  3: "SQLite may not access the file",
  7: "memory ran out",
  [READONLY]:
    "the file or its directory is read-only, for this user or for all",
  [IOERR]: "reading or writing the disk failed",
  [CORRUPT]: "the file is damaged; restore it from a backup",
  [FULL]: IS_FULL,
  [IOERR_LOCK]:
    "its file system has no locks, or the file is read-only for this user",
  [IOERR_SHMSIZE]: IS_FULL,
  [IOERR_SHORT_READ]:
    "the -wal was replaced or cut short while in use; restart the processes that use the file",
  [IOERR_WRITE]: `${IS_FULL} or failing, or the file reached its size limit`,
  [CANTOPEN]:
    "the file, its -wal or its -shm cannot be opened; the -wal may have been emptied while programs use it, or the disk or the files may be read-only for this user",
  [NOTADB]: "the file is not an SQLite database",
};

/** Returns true if another connection holds a lock, so that retrying helps. */
export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED, PROTOCOL].includes(resultCode(error));
}

/**
 * Returns true if a failed `COMMIT` may have taken effect. It has not if the file was busy or the
 * disk full, because SQLite writes last what makes a transaction count.
 */
export function mayHaveCommitted(error: unknown): boolean {
  return !isBusy(error) && ![FULL, IOERR_WRITE].includes(resultCode(error));
}

/** Returns true if there is no space or no id left: SQLite has one code for both. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === FULL;
}

/** Returns true if the state of the disk is unknown, so that nothing more may be written. */
export function isFatal(error: unknown): boolean {
  return [IOERR, IOERR_LOCK, IOERR_SHORT_READ, CORRUPT, NOTADB]
    .includes(resultCode(error));
}

/** Returns true if SQLite cannot open one of the files, or refuses the version of the index. */
export function isRefused(error: unknown): boolean {
  return resultCode(error) === CANTOPEN;
}

/** Returns true if the database itself is damaged. */
export function isDamaged(error: unknown): boolean {
  return [CORRUPT, NOTADB].includes(resultCode(error));
}

/** Says why nothing is written after this error, and what to do. */
export function whyStopped(error: unknown): string {
  return isDamaged(error)
    ? `writing stopped, because ${REASONS[CORRUPT]}`
    : "writing stopped after a disk error; check the disk, then restart";
}

/** Returns true if a lock failed, but not because another connection holds one. */
export function isLockFault(error: unknown): boolean {
  return resultCode(error) === IOERR_LOCK;
}

/** Explains an error of SQLite; `undefined` for other errors and mistakes in the SQL. */
export function faultReason(error: unknown): string | undefined {
  return isBusy(error)
    ? "another process keeps the file locked"
    : REASONS[resultCode(error)];
}

/**
 * Finds out why the file system refused a file, whose error this is; `undefined` if it did not.
 */
export function accessReason(file: string, error: unknown): string | undefined {
  const isAccessFault = [CANTOPEN, READONLY, IOERR_LOCK]
    .includes(resultCode(error));
  if (!isAccessFault) return undefined;
  const directory = dirname(file);
  let tried = directory;
  try {
    if (!statSync(directory).isDirectory()) {
      return `${directory} is not a directory`;
    }
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
      return "it is a directory";
    }
    assertAccess(directory, constants.W_OK);
    for (const used of [file, `${file}-wal`, `${file}-shm`]) {
      tried = used;
      if (existsSync(used)) assertAccess(used, constants.R_OK | constants.W_OK);
    }
  } catch (cause) {
    const { code } = cause as { readonly code?: string };
    if (code === "ENOENT") {
      return `the directory ${directory} does not exist; create it first`;
    }
    if (code === "EACCES") {
      return `this user must be able to read and write ${tried}; change its owner or mode`;
    }
  }
  return undefined;
}

/** As `accessSync`; throws its error. */
function assertAccess(path: string, wanted: number): void {
  try {
    accessSync(path, wanted);
  } catch (cause) {
    // Deno 2.9 knows no groups of this user, so it may refuse what the group may do. Can go if
    // tests/adapters/storage/sqlite/permission_test.ts passes there without it.
    const ofGroup = statSync(path).mode >> 3;
    if ("Deno" in globalThis && (ofGroup & wanted) === wanted) return;
    throw cause;
  }
}

/**
 * Turns an error of SQLite into a {@linkcode StorageError}. Returns other errors unchanged, unless
 * `kind` is `outcome_unknown`.
 */
export function storageFault(
  action: string,
  error: unknown,
  kind: StorageError["kind"] = "unavailable",
): unknown {
  const reason = faultReason(error);
  if (reason === undefined && kind === "unavailable") return error;
  return storageError(kind, action, `${reason ?? error}`, error);
}

/** Returns SQLite's result code, as in `REASONS`; 0 for any other error. */
function resultCode(error: unknown): number {
  // On Deno 2.9 an error from opening has no code (denoland/deno#28289). This can go if
  // tests/adapters/storage/sqlite/faults_test.ts passes there without it.
  if (`${error}`.includes("unable to open database file")) return CANTOPEN;
  const { errcode = 0 } = Object(error) as { readonly errcode?: number };
  return errcode in REASONS ? errcode : errcode & 0xff;
}
