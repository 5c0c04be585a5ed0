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

// Requests and answers.
export {
  type Answer,
  type BodyLimits,
  CONNECTION_FIELDS,
  ERROR_STATUS,
  type ErrorBody,
  type ErrorCode,
  type Fields,
  jsonAnswer,
  type Layer,
  type ReadBody,
  type Service,
  type ServiceRequest,
  withFields,
} from "./answer.ts";
export {
  type Handler,
  respond,
  toHandler,
  toResponse,
  webBody,
} from "./handler.ts";

// Refusals.
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
export {
  isBelow,
  isHost,
  normalizePath,
  parseTarget,
  type Target,
} from "./http/target.ts";
export { type BaseUrl, parseBaseUrl } from "./http/base_url.ts";
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
  giveUp,
  Pieces,
  readBefore,
  readText,
} from "./http/body.ts";

// Endpoints, and the service.
export type { Call, Context, Endpoint, Operation } from "./operation.ts";
export { createRouter, type Routed, type Router } from "./router.ts";
export { corsLayer } from "./http/cors.ts";
export {
  createPipeline,
  createService,
  type PipelineOptions,
  report,
} from "./service.ts";
export {
  type CheckedOptions,
  type HandlerOptions,
  type RateLimitResult,
  readHandlerOptions,
} from "./handler_options.ts";
export {
  type Described,
  openApi,
  openApiDocument,
} from "./openapi/document.ts";
export { operationsOf } from "./openapi/operations.ts";
export type { JsonObject } from "./openapi/schemas.ts";

// Pets, beside what `@petstore/service/storage` has.
export {
  inForm,
  int64Problem,
  nameProblem,
  parseNewPet,
} from "./pets/new_pet.ts";
export { MAX_LIMIT } from "./pets/page.ts";
export { parsePetId, PET_STATUSES, petsToJson } from "./pets/pet.ts";
export { type Problem, Problems } from "./pets/problems.ts";
export {
  INT64_MAX,
  INT64_MIN,
  isInt64,
  parseInt64,
  parseWithInt64,
} from "./int64.ts";

// Options of functions.
export {
  checkFunction,
  checkIntegers,
  checkNames,
  MAX_TIME,
  shown,
} from "./options.ts";
export { checkRuntime, isFieldValue } from "./runtimes.ts";
export { sha256 } from "./sha256.ts";
