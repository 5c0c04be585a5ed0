/**
 * A client of the pet store service. It needs only web globals, so it runs on Deno, Bun and Node,
 * in workers, and in browsers since Chrome 126, Firefox 126 and Safari 18.
 *
 * ```ts
 * import { createClient } from "@petstore/service/client";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * // The whole service in process; omit `fetch` to reach one over the network.
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch: handle });
 *
 * const rex = await client.createPet({ name: "Rex", categoryId: 9007199254740993n });
 * assert.equal(rex.categoryId, 9007199254740993n);
 * for await (const pet of client.pets({ status: "available" })) {
 *   assert.equal(pet.name, "Rex");
 * }
 * ```
 *
 * @module
 */

export type { ErrorCode } from "../../core/kit.ts";
export {
  type NewPet,
  type Pet,
  type PetId,
  type PetStatus,
  petToJson,
} from "../../core/storage.ts";
export {
  type AnyPetStoreError,
  PetStoreError,
  type PetStoreErrorCode,
} from "./error.ts";
export { type CallOptions, type Client, createClient } from "./client.ts";
export type { ClientOptions } from "./options.ts";
export type { PetsPage, PetsQuery } from "./calls.ts";
