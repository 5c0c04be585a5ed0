/** Makes the service from its options. */

import type { HandlerOptions } from "../core/handler_options.ts";
import { parseBaseUrl } from "../core/http/base_url.ts";
import { DEFAULT_LIMITS } from "../core/http/body.ts";
import { corsLayer } from "../core/http/cors.ts";
import { type Handler, toHandler } from "../core/handler.ts";
import { checkRuntime } from "../core/int64.ts";
import {
  checkFunction,
  checkIntegers,
  checkNames,
  MAX_TIME,
  shown,
} from "../core/options.ts";
import type { Endpoint } from "../core/operation.ts";
import { createService, type ServiceOptions } from "../core/service.ts";
import { traceLayer } from "./layers/tracing.ts";

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
    getPet = true,
    maxBodyBytes = DEFAULT_LIMITS.maxBodyBytes,
    bodyTimeout = DEFAULT_LIMITS.bodyTimeout,
    rateLimit,
    docs,
    onError = (cause) => console.error(cause),
  } = Object(options) as HandlerOptions;
  const limits = { maxBodyBytes, bodyTimeout };
  const all = { storage, keys, getPet, ...limits, rateLimit, onError };
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
  if (typeof getPet !== "boolean") {
    throw new TypeError(
      `Wrong option getPet: it must be true or false, not ${shown(getPet)}`,
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
  const isEndpoint = (endpoint: unknown) => {
    const { path, run } = Object(endpoint) as Partial<Endpoint>;
    return typeof path === "string" && typeof run === "function";
  };
  if (docs !== undefined && !docs.endpoints.every(isEndpoint)) {
    throw new TypeError(
      "Wrong option docs: each of its endpoints must have a path and a function run; pass what await docs(…) returns",
    );
  }
  const parsed = parseBaseUrl(baseUrl);
  const openApiUrl = `${parsed.path}/openapi.json`;
  const { openApiUrl: loaded = openApiUrl } = docs ?? {};
  if (loaded !== openApiUrl) {
    throw new TypeError(
      `Wrong option docs: its page loads ${loaded}, but this service has ${openApiUrl}; pass await docs({ openApiUrl: "${openApiUrl}" })`,
    );
  }
  return { ...all, baseUrl: parsed };
}
