/** A storage of pets and of issued API keys. */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";

/** A {@linkcode PetStorage}, and a place beside it for the records of issued API keys. */
export interface PetDatabase extends PetStorage {
  /** The records of issued API keys, kept where the pets are. */
  readonly apiKeys: ApiKeyStorage;
}
