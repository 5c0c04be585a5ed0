/** Makes the service from its options. */

import { parseBaseUrl } from "./http/base_url.ts";
import { DEFAULT_LIMITS } from "./http/body.ts";
import { corsLayer } from "./http/cors.ts";
import type { ServiceRequest } from "./http/message.ts";
import { type Handler, toHandler } from "./http/fetch_handler.ts";
import type { VerifiedKey } from "./keys/api_keys.ts";
import { checkRuntime } from "./json.ts";
import type { Endpoint } from "./operations/operation.ts";
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
import { traceLayer } from "./trace.ts";

/** Settings of {@linkcode createHandler}, where an example shows them. */
export interface HandlerOptions {
  /** Keeps the pets. */
  readonly storage: PetStorage;
  /**
   * Decides which API keys are valid. For a valid key `verify` returns, or resolves to, `true` or
   * an object with the key's `id`, which identifies it in logs and traces. `false` and `undefined`
   * are answered with 401, anything else with 500.
   */
  readonly keys: {
    verify(
      key: string,
    ):
      | VerifiedKey
      | boolean
      | undefined
      | Promise<VerifiedKey | boolean | undefined>;
  };
  /**
   * Where the service is mounted: a path, or an absolute URL whose path is used. `Location` and
   * `Link` are absolute under an absolute URL, and relative references otherwise. Default: `/v1`.
   */
  readonly baseUrl?: string;
  /**
   * Maximum size of a body in bytes, at least 1. Default: 65536 (64 KiB). A `Content-Length` below
   * it is trusted; if you replace the body, delete the header.
   */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive in full, in ms: 1 to 2147483647. Default: 10000. */
  readonly bodyTimeout?: number;
  /**
   * Origins whose web pages may read responses, such as `https://app.example.com`, or `"*"` for
   * all. Default: only the service's own origin.
   */
  readonly cors?: { readonly origins: readonly string[] | "*" };
  /**
   * Counts each request with a valid API key. A request over the limit is answered with 429.
   * Default: no limit.
   */
  readonly rateLimit?: (
    key: string,
  ) => RateLimitResult | Promise<RateLimitResult>;
  /**
   * The page that documents the service: what `await docs(…)` of `@petstore/service/docs` returns.
   * Default: no page.
   */
  readonly docs?: { readonly endpoints: readonly Endpoint[] };
  /**
   * Receives the cause of every 500 and 503, which the client never sees; the request; its route,
   * such as `/v1/pets/{petId}`; and the id of its API key. The last two are `undefined` if they are
   * not known (yet). Its own failures are ignored. Default: `console.error`.
   */
  readonly onError?: (
    cause: unknown,
    request: ServiceRequest,
    route: string | undefined,
    keyId: string | number | undefined,
  ) => void;
}

/**
 * Makes the service.
 *
 * @example Serve it
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * ```
 *
 * @example Set options
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const calls = new Map<string, number>();
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   baseUrl: "https://api.example.com/shop/v1",
 *   maxBodyBytes: 1024,
 *   bodyTimeout: 5000,
 *   cors: { origins: ["https://app.example.com"] },
 *   rateLimit(key) {
 *     const count = (calls.get(key) ?? 0) + 1;
 *     calls.set(key, count);
 *     return { allowed: count <= 2, headers: { "retry-after": "60" } };
 *   },
 *   onError: (cause, { method }, route) => console.error(method, route, cause),
 * });
 *
 * const headers = {
 *   authorization: "Bearer secret",
 *   "content-type": "application/json",
 *   origin: "https://app.example.com",
 * };
 * const create = (name: string) =>
 *   handle(
 *     new Request("http://localhost/shop/v1/pets", {
 *       method: "POST",
 *       headers,
 *       body: JSON.stringify({ name, categoryId: 1 }),
 *     }),
 *   );
 * const created = await create("Rex");
 * assert.equal(created.headers.get("location"), "https://api.example.com/shop/v1/pets/1");
 * assert.equal(created.headers.get("access-control-allow-origin"), "https://app.example.com");
 * assert.equal((await create("Rex".repeat(1000))).status, 413);
 * assert.equal((await create("Tom")).status, 429);
 * ```
 *
 * @param options where pets are kept and which keys are valid; the rest have defaults.
 * @returns the service as a fetch function, to serve, mount or call.
 * @throws {TypeError} if an option is unknown or has the wrong type.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime is too old, such as Node 20.
 */
export function createHandler(options: HandlerOptions): Handler {
  const read = readHandlerOptions(options);
  const { cors, docs } = options;
  const service = traceLayer(createService(read, docs?.endpoints));
  return toHandler(
    cors === undefined ? service : corsLayer(cors, read.baseUrl.path)(service),
  );
}

/**
 * Checks the options and fills in the defaults, except for `cors` and `docs`. Throws as
 * `createHandler` does.
 */
export function readHandlerOptions(options: HandlerOptions): ServiceOptions {
  checkRuntime();
  const {
    storage,
    keys,
    baseUrl = "/v1",
    maxBodyBytes = DEFAULT_LIMITS.maxBodyBytes,
    bodyTimeout = DEFAULT_LIMITS.bodyTimeout,
    rateLimit,
    docs,
    onError = (cause) => console.error(cause),
  } = Object(options) as HandlerOptions;
  const all = { storage, keys, maxBodyBytes, bodyTimeout, rateLimit, onError };
  const names = [...Object.keys(all), "baseUrl", "cors", "docs"];
  checkNames(options, names, "createHandler");

  if (storage instanceof Promise) {
    throw new TypeError("Wrong option storage: it is a promise, so await it");
  }
  if (storage === undefined || storage === null) {
    throw new TypeError("Wrong option storage: it is missing");
  }
  if (typeof storage === "function") {
    throw new TypeError(
      "Wrong option storage: it is a function, so call it, as in memoryStorage()",
    );
  }
  for (const method of ["create", "get", "list"] as const) {
    checkFunction(storage[method], `storage.${method}`);
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
  if (docs !== undefined && !Array.isArray(docs?.endpoints)) {
    throw new TypeError(
      "Wrong option docs: it must be what await docs(…) returns",
    );
  }
  return { ...all, baseUrl: parseBaseUrl(baseUrl) };
}
