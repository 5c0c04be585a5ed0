/**
 * Notices that a file in use was deleted or replaced: writing to it still works, but all is lost.
 *
 * @module
 */

import { statSync } from "node:fs";
import { StorageError } from "../../core/pets/pet_storage.ts";

/** A file that should stay where it is. */
export interface FileInPlace {
  /**
   * Checks that the same file is still at its path.
   *
   * @param action what fails otherwise: "create pet".
   * @param maxAge how old an earlier answer may be, in ms.
   * @throws {StorageError} `unavailable` if it is not.
   */
  assertInPlace(action: string, maxAge: number): void;
}

/** Remembers which file is at a path now. Throws if it cannot be looked at. */
export function fileInPlace(path: string): FileInPlace {
  const identity = identify(path);
  let inPlaceAt = -Infinity;
  return {
    assertInPlace(action, maxAge) {
      const now = performance.now();
      if (now - inPlaceAt < maxAge) return;
      if (!isStill(path, identity)) {
        throw new StorageError(
          "unavailable",
          `Cannot ${action}: ${path} was deleted or replaced while in use; restart to use what is there now`,
        );
      }
      inPlaceAt = now;
    },
  };
}

function isStill(path: string, identity: string | undefined): boolean {
  try {
    return identify(path) === identity;
  } catch {
    // A file that can no longer be looked at is not in place.
    return false;
  }
}

function identify(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
