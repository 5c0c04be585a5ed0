/**
 * SQLite's result codes in the words of the storage port.
 *
 * @module
 * @see https://sqlite.org/rescode.html
 */

import { StorageError } from "../../core/pets/pet_storage.ts";

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;

const REASONS: ReadonlyMap<number, string> = new Map([
  [3, "access to the file is not permitted"],
  [BUSY, "another process keeps the file locked"],
  [LOCKED, "another process keeps the file locked"],
  [7, "there is not enough memory"],
  [READONLY, "the file, or the directory that it is in, is read-only"],
  [IOERR, "reading or writing the disk failed"],
  [CORRUPT, "the file is damaged; restore it from a backup"],
  [FULL, "the disk is full"],
  [
    CANTOPEN,
    "the file, or one that SQLite keeps beside it, cannot be opened; the disk may be read-only",
  ],
  [PROTOCOL, "another process keeps the file locked"],
  [NOTADB, "the file is not an SQLite database"],
]);

/** Tells whether an error means that another connection is in the way: trying again helps. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED || code === PROTOCOL;
}

/**
 * Tells whether a failed `COMMIT` may have happened all the same. A busy or full one has not: SQLite
 * writes the mark that makes a transaction count last.
 */
export function mayHaveCommitted(error: unknown): boolean {
  return !isBusy(error) && resultCode(error) !== FULL;
}

/** Tells whether nothing should be written after this error: what is on disk is not known. */
export function isFatal(error: unknown): boolean {
  const code = resultCode(error);
  return code === IOERR || code === CORRUPT || code === NOTADB;
}

/** Tells whether the file, or one beside it, could not be opened or not for writing. */
export function isAccessFault(error: unknown): boolean {
  const code = resultCode(error);
  return code === CANTOPEN || code === READONLY;
}

/** What an error of SQLite means; `undefined` for any other, and for a mistake in the SQL. */
export function faultReason(error: unknown): string | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : REASONS.get(code);
}

/**
 * Turns an error of SQLite into a {@linkcode StorageError}. Where the kind is `unavailable`, an error
 * that is not about the state of the storage is returned as it is.
 *
 * @param action what could not be done: "create pet".
 */
export function storageFault(
  action: string,
  error: unknown,
  kind: StorageError["kind"] = "unavailable",
): unknown {
  const reason = faultReason(error);
  if (reason === undefined && kind === "unavailable") return error;
  return new StorageError(kind, `Cannot ${action}: ${reason ?? error}`, {
    cause: error,
  });
}

/** SQLite's primary result code, without the upper bits that refine it. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  // Deno gives this error no code where it comes from opening, and not from a statement.
  if (error.message.startsWith("unable to open database file")) return CANTOPEN;
  if (!("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
