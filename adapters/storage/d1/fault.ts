/** D1's errors in the words of the storage port; they have no code, only a message. */

import { StorageError } from "../../../core/pets/pet_storage.ts";

/** The statement is wrong, or a table is another program's: trying again does not help. */
const OF_THE_STATEMENT = /SQLITE_(?:ERROR|CONSTRAINT|MISMATCH)|D1_TYPE_ERROR/;

/** The statements did not run, or were rolled back. */
const NOTHING_HAPPENED =
  /overloaded|Cannot resolve D1 DB|while starting up|maximum DB size|SQLITE_FULL/;

/**
 * Turns an error into a {@linkcode StorageError}, unless it is about the statement.
 *
 * @param kind what is known if the message does not say that nothing happened.
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
  return new StorageError(known, `Cannot ${action}: ${text}`, { cause });
}
