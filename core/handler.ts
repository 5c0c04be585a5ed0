/**
 * The pipeline: host, path, method, key, input, storage, response. The whole service in one place.
 *
 * @module
 */

import type { ApiKeys } from "./keys/api_keys.ts";
import { invalidKey, parseBearer } from "./keys/authenticate.ts";
import { parseBaseUrl } from "./http/base_url.ts";
import { createPet } from "./pets/create_pet.ts";
import { ApiError } from "./http/refusal.ts";
import { deprecationHeaders, getPet } from "./pets/get_pet.ts";
import { listPets } from "./pets/list_pets.ts";
import { openApi } from "./openapi/openapi.ts";
import type { Operation } from "./operation.ts";
import { type PetStorage, StorageError } from "./pets/pet_storage.ts";
import {
  JSON_HEADERS,
  type Reply,
  type ResponseConstructor,
  toResponse,
} from "./http/reply.ts";
import { createRouter, type OperationName } from "./http/route.ts";
import { staticReply } from "./http/static_reply.ts";
import { parseTarget } from "./http/target.ts";

/** Settings of {@linkcode createHandler}. */
export interface HandlerOptions {
  /** Keeps the animals. */
  readonly storage: PetStorage;
  /** Says which API keys are valid. */
  readonly keys: ApiKeys;
  /**
   * Where the service is mounted: a path, or an absolute URL whose path is used. `Location` and
   * `Link` are absolute under an absolute URL, and relative references otherwise. Default: `/v1`.
   */
  readonly baseUrl?: string;
  /**
   * The most bytes that a body may have: 1 or more. Default: 65536 (64 KiB). A `Content-Length` below
   * it is believed, as a server makes it true: who puts another body under it must take it off.
   */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive in full, in ms: 1 to 2147483647. Default: 10000. */
  readonly bodyTimeout?: number;
  /**
   * Told the cause of every 500 and 503, which the client is not. Default: `console.error`. Where
   * it fails itself, that is ignored.
   */
  readonly onError?: (cause: unknown, request: Request) => void;
  /** Makes the responses. Default: the global `Response`; `NodeResponse` is a faster one on Node. */
  readonly Response?: ResponseConstructor;
}

/** The service as a fetch function. It never rejects. */
export type Handler = (request: Request) => Promise<Response>;

const operations: Readonly<Record<OperationName, Operation>> = {
  listPets,
  createPet,
  getPet,
};

const internalError = new ApiError(
  "internal_error",
  "Something went wrong on our side",
);
const unavailable = new ApiError(
  "service_unavailable",
  "Cannot reach the storage now: nothing was changed, and the request can be sent again",
  { "retry-after": "1" },
);
// No Retry-After: it invites to send the request again (RFC 9110 §10.2.3), and a pet that was added
// after all would then be there twice. Its absence is how a client tells the two apart.
const outcomeUnknown = new ApiError(
  "service_unavailable",
  "Cannot tell whether the pet was added: the storage did not confirm it. List the pets before sending it again",
);

/**
 * Makes the service.
 *
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "../mod.ts";
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
 * @throws {TypeError} where an option is of a wrong kind.
 * @throws {RangeError} where a number is out of bounds.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { Response = globalThis.Response } = options;
  return createResponder(
    options,
    (reply, { method }) => toResponse(reply, { method, Response }),
  );
}

/** Does what {@linkcode createHandler} does, where the caller adds something to every response. */
export function createResponder(
  options: Omit<HandlerOptions, "Response">,
  makeResponse: (reply: Reply, request: Request) => Response,
): Handler {
  checkOptions(options);
  const {
    storage,
    keys,
    maxBodyBytes = 65_536,
    bodyTimeout = 10_000,
    onError = (cause) => console.error(cause),
  } = options;
  const baseUrl = parseBaseUrl(options.baseUrl ?? "/v1");
  const router = createRouter(baseUrl.path);
  const service = { storage, baseUrl, maxBodyBytes, bodyTimeout };
  const deprecation = deprecationHeaders(baseUrl);
  const openApiReply = staticReply(
    () => JSON.stringify(openApi(options.baseUrl)),
    {
      "content-type": "application/json",
      // no-store, as the other responses have it, would leave the ETag without a use.
      "cache-control": "no-cache",
    },
  );

  const deprecated = Object.freeze({ ...JSON_HEADERS, ...deprecation });

  function deprecate({ status, headers, body }: Reply): Reply {
    // Those of a success are made once; a `Response` of an adapter may know them again.
    return {
      status,
      headers: headers === JSON_HEADERS
        ? deprecated
        : { ...headers, ...deprecation },
      body,
    };
  }

  function report(cause: unknown, request: Request): void {
    // A reporter that fails, at once or later, has nobody left to be reported to.
    (async () => await onError(cause, request))().catch(() => {});
  }

  return async function handle(request) {
    const respond = (reply: Reply): Response => makeResponse(reply, request);
    let finish = respond;
    try {
      const target = parseTarget(request);
      if (target instanceof ApiError) return respond(target);
      const route = router.match(request.method, target.path);
      if (route instanceof ApiError) return respond(route);
      if (route.kind === "options") return respond(allowed(route.allow));
      if (route.kind === "openapi") return respond(await openApiReply(request));
      if (route.operation === "getPet") {
        finish = (reply) => respond(deprecate(reply));
      }
      const key = parseBearer(request.headers.get("authorization"));
      if (key instanceof ApiError) return finish(key);
      if (await keys.verify(key) !== true) return finish(invalidKey);
      const call = { request, query: target.query, petId: route.petId };
      return finish(await operations[route.operation](call, service));
    } catch (cause) {
      report(cause, request);
      return finish(refusalFor(cause));
    }
  };
}

/** The answer to `OPTIONS` (RFC 9110 §9.3.7). */
function allowed(allow: string): Reply {
  return { status: 204, headers: { allow }, body: null };
}

function refusalFor(cause: unknown): ApiError {
  try {
    if (!(cause instanceof StorageError)) return internalError;
    return cause.kind === "unavailable" ? unavailable : outcomeUnknown;
  } catch {
    return internalError; // a cause that cannot even be looked at, as a proxy may be
  }
}

function checkOptions(options: HandlerOptions): void {
  const {
    storage,
    keys,
    baseUrl,
    maxBodyBytes,
    bodyTimeout,
    onError,
    Response,
  } = options;
  for (const method of ["create", "get", "list"] as const) {
    checkKind(storage?.[method], "function", `storage.${method}`);
  }
  checkKind(keys?.verify, "function", "keys.verify");
  if (baseUrl !== undefined) checkKind(baseUrl, "string", "baseUrl");
  if (onError !== undefined) checkKind(onError, "function", "onError");
  if (Response !== undefined) checkKind(Response, "function", "Response");
  checkRange(maxBodyBytes, Number.MAX_SAFE_INTEGER, "maxBodyBytes");
  checkRange(bodyTimeout, 2 ** 31 - 1, "bodyTimeout"); // a longer timer fires at once
}

function checkKind(
  value: unknown,
  kind: "function" | "string",
  name: string,
): void {
  const actual = typeof value;
  if (actual === kind) return;
  throw new TypeError(
    `Wrong option ${name}: it must be a ${kind}, not ${actual}`,
  );
}

function checkRange(
  value: number | undefined,
  max: number,
  name: string,
): void {
  if (
    value === undefined ||
    (Number.isInteger(value) && value >= 1 && value <= max)
  ) return;
  throw new RangeError(
    `Wrong option ${name}: it must be an integer from 1 to ${max}, not ${value}`,
  );
}
