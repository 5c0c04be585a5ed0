/**
 * The pet store service as a fetch function.
 *
 * {@linkcode createHandler} makes `handle(request: Request): Promise<Response>`, which runs wherever
 * `Request` and `Response` do. Importing this module does no I/O and needs no permission.
 *
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "./mod.ts";
 * import assert from "node:assert/strict";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const response = await handle(
 *   new Request("http://localhost/v1/pets?limit=5", { headers: { authorization: "Bearer secret" } }),
 * );
 * assert.equal(response.status, 200);
 * assert.deepEqual(await response.json(), []);
 * ```
 *
 * @module
 */

export {
  createHandler,
  type Handler,
  type HandlerOptions,
} from "./core/handler.ts";
export type { ResponseConstructor } from "./core/http/reply.ts";
export type { ErrorBody, ErrorCode } from "./core/http/refusal.ts";
export { openApi } from "./core/openapi/openapi.ts";
export type {
  Content,
  Example,
  Header,
  JsonValue,
  MediaType,
  OpenApiDocument,
  OperationDescription,
  Parameter,
  PathItem,
  Reference,
  ResponseDescription,
  Schema,
  SecurityRequirement,
  SecurityScheme,
} from "./core/openapi/document.ts";

export {
  int64Schema,
  type NewPet,
  newPetSchema,
  parsePetId,
  type Pet,
  type PetId,
  petId,
  petNameSchema,
  type PetStatus,
  petStatusSchema,
  petToJson,
} from "./core/pets/pet.ts";

export {
  type GetPet,
  type JsonPage,
  type ListPets,
  type PetQuery,
  type PetStorage,
  type Read,
  type ReadJson,
  StorageError,
  type StorageErrorKind,
  withJson,
} from "./core/pets/pet_storage.ts";
export { type MemoryStorage, memoryStorage } from "./adapters/memory/mod.ts";

export { type ApiKeys, apiKeys } from "./core/keys/api_keys.ts";
export {
  type ApiKeyRecord,
  type ApiKeyStorage,
  type IssuedKey,
  type IssuedKeys,
  issuedKeys,
  type NewApiKeyRecord,
  REVOCATION_DELAY,
} from "./core/keys/issued_keys.ts";
