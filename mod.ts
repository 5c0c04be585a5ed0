/**
 * The pet store service as a fetch function.
 *
 * {@linkcode createHandler} makes `handle(request: Request): Promise<Response>`, which runs
 * wherever `Request` and `Response` do. Importing this module does no I/O and needs no permission.
 *
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const response = await handle(
 *   new Request("http://localhost/v1/pets", {
 *     method: "POST",
 *     headers: { authorization: "Bearer secret", "content-type": "application/json" },
 *     body: '{"name":"Rex","categoryId":9007199254740993}',
 *   }),
 * );
 * assert.equal(response.status, 201);
 * assert.equal(
 *   await response.text(),
 *   '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}',
 * );
 * ```
 *
 * @module
 */

export { createHandler } from "./adapters/handler.ts";
export type { HandlerOptions } from "./adapters/handler_options.ts";
export type { RateLimitResult } from "./core/service.ts";
export type { Handler } from "./core/handler.ts";
export type {
  Answer,
  BodyLimits,
  ErrorBody,
  ErrorCode,
  Fields,
  Layer,
  ReadBody,
  Service,
  ServiceRequest,
} from "./core/answer.ts";
export type { Call, Endpoint } from "./core/operation.ts";
export { openApi } from "./core/openapi/document.ts";
export type { JsonObject } from "./core/openapi/schemas.ts";
export {
  type Pet,
  type PetId,
  type PetStatus,
  petToJson,
} from "./core/pets/pet.ts";
export { type PetStorage, StorageError } from "./core/pets/pet_storage.ts";
export { type ApiKeys, apiKeys, type VerifiedKey } from "./core/keys.ts";

export {
  type MemoryOptions,
  type MemoryStorage,
  memoryStorage,
  type PetDatabase,
  type SeedPet,
} from "./adapters/storage/memory/mod.ts";
// Inferred types need a name that the entry exports.
export type * from "./core/storage.ts";

export {
  type IssuedKey,
  type IssuedKeys,
  issuedKeys,
} from "./adapters/keys/issued_keys.ts";
