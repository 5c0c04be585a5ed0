/** Translates D1's errors, which have no code but only a message, for the storage port. */

import type { StorageError } from "../../../core/storage.ts";
import { storageError } from "../pet_database.ts";

/** The statement is wrong, or a table belongs to another program: retrying does not help. */
const OF_THE_STATEMENT = /SQLITE_(?:ERROR|CONSTRAINT|MISMATCH)|D1_TYPE_ERROR/;

/** The statements did not run, or were rolled back. */
const NOTHING_HAPPENED =
  /overloaded|Cannot resolve D1 DB|while starting up|maximum DB size|SQLITE_FULL/;

/**
 * Turns an error into a {@linkcode StorageError}, unless it is about the statement.
 *
 * @param kind what is known unless the message says that nothing happened.
 * @see https://developers.cloudflare.com/d1/observability/debug-d1/
 */
export function d1Fault(
  action: string,
  cause: unknown,
  kind: StorageError["kind"],
): unknown {
  const text = String(cause);
  if (OF_THE_STATEMENT.test(text)) return cause;
  const known = NOTHING_HAPPENED.test(text) ? "unavailable" : kind;
  return storageError(known, action, text, cause);
}
