/**
 * What you need to write a server, a layer or an endpoint of your own. Its names may change in minor
 * versions.
 *
 * A {@linkcode Service} answers a request with an {@linkcode Answer}, plain data; a
 * {@linkcode Layer} wraps a service in another one; a {@linkcode Refusal} is an answer with the Error
 * body; {@linkcode toHandler} makes the fetch function of a service.
 *
 * @example A layer that names the server in every answer
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { type Layer, toHandler, withFields } from "@petstore/service/kit";
 * import assert from "node:assert/strict";
 *
 * const named: Layer = (service) => async (...request) =>
 *   withFields(await service(...request), { server: "petstore" });
 *
 * const { answer } = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const handle = toHandler(named(answer));
 * const response = await handle(new Request("http://localhost/v1/pets"));
 * assert.deepEqual([response.status, response.headers.get("server")], [401, "petstore"]);
 * ```
 *
 * @module
 */

// Requests, answers and refusals.
export * from "./answer.ts";
export * from "./handler.ts";
export {
  cutShort,
  internalError,
  invalidKey,
  late,
  missingKey,
  notJson,
  noTunnel,
  Refusal,
  shuttingDown,
  tooManyRequests,
  wrongMediaType,
} from "./errors.ts";

// The target, the key and the body of a request.
export * from "./http/target.ts";
export * from "./http/base_url.ts";
export {
  anyOf,
  type ApiKeys,
  apiKeys,
  type FoundKey,
  isSendable,
  parseBearer,
  rememberKeys,
  type VerifiedKey,
} from "./keys.ts";
export {
  decodeUtf8,
  DEFAULT_LIMITS,
  giveUp,
  Pieces,
  readBefore,
  readText,
} from "./http/body.ts";

// Endpoints, and the service.
export * from "./operation.ts";
export * from "./router.ts";
export * from "./service.ts";
export {
  type Described,
  openApi,
  openApiDocument,
} from "./openapi/document.ts";
export { operationsOf } from "./operations.ts";
export type { JsonObject } from "./openapi/schemas.ts";

// Pets, beside what `@petstore/service/storage` has.
export {
  inForm,
  int64Problem,
  nameProblem,
  parseNewPet,
} from "./pets/new_pet.ts";
export { isStorageError } from "./pets/pet_storage.ts";
export { MAX_LIMIT } from "./pets/page.ts";
export { parsePetId, PET_STATUSES, petsToJson } from "./pets/pet.ts";
export { type Problem, Problems } from "./pets/problems.ts";
export * from "./int64.ts";

// Options of functions.
export * from "./options.ts";
export { checkRuntime, isFieldValue } from "./runtimes.ts";
export { sha256 } from "./sha256.ts";
