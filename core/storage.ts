/**
 * What you need to write a storage: the port {@linkcode PetStorage}, the types that it accepts and
 * returns, and functions that check and make them. `@petstore/service/contract` tests a storage
 * against the port.
 *
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { checkNewPet, petId, petToJson } from "@petstore/service/storage";
 * import assert from "node:assert/strict";
 *
 * const storage = memoryStorage();
 * await storage.create(checkNewPet({ name: "Rex", categoryId: 1n }));
 * const pet = await storage.get(petId(1n));
 * assert.equal(
 *   pet && petToJson(pet),
 *   '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
 * );
 * ```
 *
 * @module
 */

export {
  type CheckedPet,
  type NewPet,
  type Pet,
  type PetId,
  petId,
  type PetStatus,
  petToJson,
} from "./pets/pet.ts";
export { checkNewPet } from "./pets/new_pet.ts";
export {
  type Page,
  type PageRequest,
  rowsToRead,
  toPage,
} from "./pets/page.ts";
export { type PetStorage, StorageError } from "./pets/pet_storage.ts";
export type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "./api_key_storage.ts";
