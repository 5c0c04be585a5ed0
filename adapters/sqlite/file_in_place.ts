/**
 * Noticing that a file in use was deleted or replaced: it goes on taking what is written, and all of
 * that is lost.
 *
 * @module
 */

import { statSync } from "node:fs";
import { StorageError } from "../../core/pets/pet_storage.ts";

/** A file that should stay where it is. */
export interface FileInPlace {
  /**
   * Checks that the same file still stands at its path.
   *
   * @param action what fails where it does not: "create pet".
   * @param maxAge the answer of at most so many ms ago will do.
   * @throws {StorageError} `unavailable` where it does not.
   */
  assertInPlace(action: string, maxAge: number): void;
}

/**
 * Remembers which file stands at a path now.
 *
 * @throws {Error} where it cannot be looked at.
 */
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
    // One that can no longer be looked at, as behind a directory that was closed, is not in place.
    return false;
  }
}

function identify(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
