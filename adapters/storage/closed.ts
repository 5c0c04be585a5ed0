/** What a storage that is closed says. */

import { StorageError } from "../../core/pets/pet_storage.ts";

/** Makes the refusal of an action: `get pet`. */
export function closedError(action: string): StorageError {
  return new StorageError(
    "unavailable",
    `Cannot ${action}: the storage is closed`,
  );
}
