/** The service as a fetch function, its options, and the way back for adapters without `Request` and `Response`. */

import { parseBaseUrl } from "./http/base_url.ts";
import { DEFAULT_LIMITS } from "./http/body.ts";
import { corsLayer } from "./http/cors.ts";
import {
  responder,
  type Service,
  type ServiceRequest,
} from "./http/message.ts";
import { checkRuntime } from "./json.ts";
import {
  checkFunction,
  checkIntegers,
  checkNames,
  MAX_TIME,
} from "./options.ts";
import type { PetStorage } from "./pets/pet_storage.ts";
import {
  createService,
  type RateLimitResult,
  type ServiceOptions,
} from "./service.ts";

/** The service as a fetch function. It never rejects. */
export type Handler = (request: Request) => Promise<Response>;

/** Settings of `createHandler`. */
export interface HandlerOptions {
  /** Keeps the pets. */
  readonly storage: PetStorage;
  /** Says which API keys are valid: those for which `verify` returns `true`, or a promise of it. */
  readonly keys: { verify(key: string): boolean | Promise<boolean> };
  /**
   * Where the service is mounted: a path, or an absolute URL whose path is used. `Location` and
   * `Link` are absolute under an absolute URL, and relative references otherwise. Default: `/v1`.
   *
   * @example
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import assert from "node:assert/strict";
   *
   * const [storage, keys] = [memoryStorage(), apiKeys(["secret"])];
   * const handle = createHandler({ storage, keys, baseUrl: "https://api.example.com/shop/v1" });
   * const headers = { authorization: "Bearer secret", "content-type": "application/json" };
   * const init = { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' };
   * const created = await handle(new Request("http://localhost/shop/v1/pets", init));
   * assert.equal(created.headers.get("location"), "https://api.example.com/shop/v1/pets/1");
   * ```
   */
  readonly baseUrl?: string;
  /**
   * The most bytes that a body may have: 1 or more. Default: 65536 (64 KiB). A `Content-Length` below
   * it is trusted; if you replace the body, delete the header.
   *
   * @example
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import assert from "node:assert/strict";
   *
   * const [storage, keys] = [memoryStorage(), apiKeys(["secret"])];
   * const handle = createHandler({ storage, keys, maxBodyBytes: 20 });
   * const headers = { authorization: "Bearer secret", "content-type": "application/json" };
   * const init = { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' };
   * const { status } = await handle(new Request("http://localhost/v1/pets", init));
   * assert.equal(status, 413);
   * ```
   */
  readonly maxBodyBytes?: number;
  /**
   * Time that a body may take to arrive in full, in ms: 1 to 2147483647. Default: 10000.
   *
   * @example
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import assert from "node:assert/strict";
   *
   * const [storage, keys] = [memoryStorage(), apiKeys(["secret"])];
   * const handle = createHandler({ storage, keys, bodyTimeout: 50 });
   * const body = new ReadableStream(); // nothing comes
   * const headers = { authorization: "Bearer secret" };
   * const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
   * const { status } = await handle(new Request("http://localhost/v1/pets", init));
   * assert.equal(status, 408);
   * ```
   */
  readonly bodyTimeout?: number;
  /**
   * Which web pages may read responses: those of these origins, such as `https://app.example.com`, or
   * of all, `"*"`. Default: none but those of the service's own origin.
   *
   * @example
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import assert from "node:assert/strict";
   *
   * const [storage, keys] = [memoryStorage(), apiKeys(["secret"])];
   * const origin = "https://app.example.com";
   * const handle = createHandler({ storage, keys, cors: { origins: [origin] } });
   * const request = new Request("http://localhost/v1/pets", { headers: { origin } });
   * const { headers } = await handle(request);
   * assert.equal(headers.get("access-control-allow-origin"), origin);
   * ```
   */
  readonly cors?: { readonly origins: readonly string[] | "*" };
  /**
   * Counts each request with a valid API key. Default: no limit.
   *
   * @example
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import assert from "node:assert/strict";
   *
   * const left = new Map([["secret", 1]]);
   * const handle = createHandler({
   *   storage: memoryStorage(),
   *   keys: apiKeys(["secret"]),
   *   rateLimit(key) {
   *     const requests = left.get(key) ?? 0;
   *     left.set(key, requests - 1);
   *     return { allowed: requests > 0 };
   *   },
   * });
   * const headers = { authorization: "Bearer secret" };
   * const list = () => handle(new Request("http://localhost/v1/pets", { headers }));
   * assert.equal((await list()).status, 200);
   * const refused = await list();
   * assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
   * ```
   */
  readonly rateLimit?: (
    key: string,
  ) => RateLimitResult | Promise<RateLimitResult>;
  /**
   * Receives the cause of every 500 and 503, which the client never sees; the request; and its route, such
   * as `/v1/pets/{petId}`, or `undefined` if it is not known yet. If it fails itself, that is ignored.
   * Default: `console.error`.
   *
   * @example
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import assert from "node:assert/strict";
   *
   * const told: unknown[] = [];
   * const handle = createHandler({
   *   storage: { ...memoryStorage(), list: () => Promise.reject(new Error("broken")) },
   *   keys: apiKeys(["secret"]),
   *   onError: (cause, { method }, route) => told.push(`${method} ${route}: ${cause}`),
   * });
   * const headers = { authorization: "Bearer secret" };
   * const { status } = await handle(new Request("http://localhost/v1/pets", { headers }));
   * assert.equal(status, 500);
   * assert.deepEqual(told, ["GET /v1/pets: Error: broken"]);
   * ```
   */
  readonly onError?: (
    cause: unknown,
    request: ServiceRequest,
    route: string | undefined,
  ) => void;
}

const OPTIONS: readonly (keyof HandlerOptions)[] = [
  "storage",
  "keys",
  "baseUrl",
  "maxBodyBytes",
  "bodyTimeout",
  "cors",
  "rateLimit",
  "onError",
];

/**
 * Makes the service.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * ```
 * @throws {TypeError} if an option is unknown or of a wrong kind.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime is too old, such as Node 20.
 */
export function createHandler(options: HandlerOptions): Handler {
  const read = readHandlerOptions(options);
  const service = createService(read);
  const { cors } = options;
  return toFetch(
    cors === undefined ? service : corsLayer(cors, read.baseUrl.path)(service),
  );
}

/** Checks the options, and fills in the defaults; `cors` is for a layer. Throws as `createHandler` does. */
export function readHandlerOptions(options: HandlerOptions): ServiceOptions {
  checkRuntime();
  checkNames(options, OPTIONS, "createHandler");
  const { storage, keys, baseUrl = "/v1", rateLimit } = options;
  const {
    maxBodyBytes = DEFAULT_LIMITS.maxBodyBytes,
    bodyTimeout = DEFAULT_LIMITS.bodyTimeout,
  } = options;
  const { onError = (cause) => console.error(cause) } = options;
  if (storage instanceof Promise) {
    throw new TypeError("Wrong option storage: it is a promise, so await it");
  }
  for (const method of ["create", "get", "list"] as const) {
    checkFunction(storage?.[method], `storage.${method}`);
  }
  if (typeof keys?.verify !== "function") {
    throw new TypeError(
      'Wrong option keys: it must have a method verify; apiKeys(["…"]) makes such an object of API keys',
    );
  }
  checkIntegers({ maxBodyBytes }, 1);
  checkIntegers({ bodyTimeout }, 1, MAX_TIME);
  if (rateLimit !== undefined) checkFunction(rateLimit, "rateLimit");
  checkFunction(onError, "onError");
  return {
    storage,
    keys,
    baseUrl: parseBaseUrl(baseUrl),
    maxBodyBytes,
    bodyTimeout,
    rateLimit,
    onError,
  };
}

const services = new WeakMap<object, Service>();

/**
 * Makes a fetch function of a service. Adapters find the service again by {@linkcode serviceOf}, and pass it
 * the connection too.
 */
export function toFetch(service: Service): Handler {
  const respond = responder(service);
  function handle(request: Request): Promise<Response> {
    // A likely mistake: `app.use("/v1", handle)` passes Node's own request.
    if (typeof request?.headers?.get !== "function") {
      throw new TypeError(
        "handle takes a Request: on Node, mount toNodeListener(handle)",
      );
    }
    return respond(request);
  }
  services.set(handle, service);
  return handle;
}

/** The service of a function that {@linkcode toFetch} made; `undefined` for any other function, a proxy included. */
export function serviceOf(handle: object): Service | undefined {
  return services.get(handle);
}
