/** A storage whose methods all do the same, for tests of its faults. */

import type { PetStorage } from "../../core/pets/pet_storage.ts";

/** Makes a storage of which every method does this. */
export function storageThat(act: () => unknown): PetStorage {
  const method = act as () => Promise<never>;
  return {
    create: method,
    get: method,
    list: method,
    ping: method,
    close: method,
  };
}
