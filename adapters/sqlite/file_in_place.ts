/**
 * Notices that a file in use was deleted or replaced: writes still succeed then, but are lost.
 *
 * @module
 */

import { statSync } from "node:fs";
import { StorageError } from "../../core/pets/pet_storage.ts";

/**
 * Checks that the same file is still at its path.
 *
 * @param action what fails otherwise: "create pet".
 * @param maxAge how old an earlier answer may be, in ms.
 * @throws {StorageError} `unavailable` if it is not.
 */
export type AssertInPlace = (action: string, maxAge: number) => void;

/** Remembers which file is at a path now. Throws if that cannot be found out. */
export function fileInPlace(path: string): AssertInPlace {
  const identity = identify(path);
  let checkedAt = -Infinity;
  return (action, maxAge) => {
    const now = performance.now();
    if (now - checkedAt < maxAge) return;
    let found: unknown;
    try {
      found = identify(path);
    } catch (error) {
      found = error; // not in place either
    }
    if (found !== identity) {
      throw new StorageError(
        "unavailable",
        `Cannot ${action}: ${path} was deleted or replaced while in use; restart to use what is there now`,
      );
    }
    checkedAt = now;
  };
}

function identify(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
