/** The promises of a storage in a database: of pets, API keys and idempotency keys. */

import type { PetStorage } from "../../core/pets/pet_storage.ts";
import {
  apiKeyStorageContract,
  type KeepsApiKeys,
  persistentApiKeyStorageContract,
} from "./api_key_storage_contract.ts";
import {
  idempotencyContract,
  type Open,
  sharedIdempotencyContract,
} from "./idempotency_contract.ts";
import {
  persistentPetStorageContract,
  petStorageContract,
} from "./pet_storage_contract.ts";
import type { TestOptions } from "./test_options.ts";

/** Registers the tests; `newPlace` makes a place where nothing is stored. */
export function databaseContract(
  name: string,
  newPlace: () => Promise<
    (...options: Parameters<Open>) => Promise<PetStorage & KeepsApiKeys>
  >,
  options?: TestOptions,
): void {
  const open = async () => await (await newPlace())();
  petStorageContract(name, open, options);
  persistentPetStorageContract(name, newPlace, options);
  apiKeyStorageContract(name, open, options);
  persistentApiKeyStorageContract(name, newPlace, options);
  idempotencyContract(name, newPlace, options);
  sharedIdempotencyContract(name, newPlace, options);
}
