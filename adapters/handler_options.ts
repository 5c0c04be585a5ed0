/** The options of `createHandler`, and how they are checked. */

import {
  checkFunction,
  checkIntegers,
  checkNames,
  checkRuntime,
  DEFAULT_LIMITS,
  type Endpoint,
  type Layer,
  MAX_TIME,
  parseBaseUrl,
  type ServiceOptions,
  shown,
} from "../core/kit.ts";
import type { PetStorage } from "../core/storage.ts";

/** Settings of `createHandler`, whose example shows them. */
export interface HandlerOptions {
  /** Keeps the pets. */
  readonly storage: PetStorage;
  /**
   * Decides which API keys are valid. For a valid key `verify` returns, or resolves to, `true` or
   * an object with the key's `id`, which labels it in logs and traces, and perhaps a `caller`, if
   * one user may have several keys. `false` and `undefined` are answered with 401, anything else
   * with 500.
   */
  readonly keys: ServiceOptions["keys"];
  /**
   * Where the service is mounted: a path, or an absolute URL whose path is used. `Location` and
   * `Link` are absolute under an absolute URL, and relative references otherwise. Default: `/v1`.
   */
  readonly baseUrl?: string;
  /**
   * If false, `getPet` is gone, as it will be after 5 December 2030: its path is a 404 that names
   * `GET /pets`, the document lacks it, and a 201 has no `Location`. Default: true.
   */
  readonly getPet?: boolean;
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
   * Counts each request with a valid API key: receives the key, or the `caller` if `verify` named
   * one. A request over the limit is answered with 429. Default: no limit.
   */
  readonly rateLimit?: NonNullable<ServiceOptions["rateLimit"]>;
  /**
   * More endpoints, at their own paths: the page that documents the service, which is
   * `await docs(…)` of `@petstore/service/docs`, and probes and metrics of
   * `@petstore/service/layers`. An operation has precedence at its path. Default: none.
   */
  readonly endpoints?: readonly Endpoint[];
  /**
   * What wraps the service, for both `handle` and `handle.answer`. The layers of
   * `@petstore/service/layers` are sorted: metrics, log, CORS, drain, limits, tracing, outermost
   * first. Your own stand outside them, the first outermost, so what one of them answers itself is
   * not logged, counted or readable by other origins. If it fails, the answer is 500. Default: none.
   */
  readonly layers?: readonly Layer[];
  /**
   * Receives the cause of every 500 and 503, which the client never sees; the request; its route,
   * such as `/v1/pets/{petId}`; and the id of its API key. The last two are `undefined` if they are
   * not known (yet). Its own failures are ignored. Default: `console.error`.
   */
  readonly onError?: ServiceOptions["onError"];
}

/** The options, checked and filled in, without `cors`. */
export interface CheckedOptions extends ServiceOptions {
  /** What wraps the service, in any order. */
  readonly layers: readonly Layer[];
}

/** Checks the options and fills in the defaults. Throws as `createHandler` does. */
export function readHandlerOptions(options: HandlerOptions): CheckedOptions {
  checkRuntime();
  const {
    storage,
    keys,
    baseUrl = "/v1",
    getPet = true,
    maxBodyBytes = DEFAULT_LIMITS.maxBodyBytes,
    bodyTimeout = DEFAULT_LIMITS.bodyTimeout,
    rateLimit,
    endpoints = [],
    layers = [],
    onError = (cause) => console.error(cause),
  } = Object(options) as HandlerOptions;
  const limits = { maxBodyBytes, bodyTimeout };
  const own = { storage, keys, rateLimit, endpoints, layers, onError };
  if (Reflect.get(Object(options), "docs") !== undefined) {
    throw new TypeError(
      "Unknown option docs: pass the page as endpoints: await docs(…)",
    );
  }
  checkNames(
    options,
    [...Object.keys({ ...own, ...limits }), "getPet", "baseUrl", "cors"],
    "createHandler",
  );

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
  const parsed = parseBaseUrl(baseUrl);
  checkEndpoints(endpoints, `${parsed.path}/openapi.json`);
  checkLayers(layers);
  return { ...own, baseUrl: parsed, hasGetPet: getPet, limits };
}

function checkEndpoints(
  endpoints: readonly Endpoint[],
  openApiUrl: string,
): void {
  if (!Array.isArray(endpoints)) {
    throw new TypeError(
      "Wrong option endpoints: it must be a list, such as await docs(…) returns",
    );
  }
  for (const endpoint of endpoints) {
    const { method, path, run, openApiUrl: loaded = openApiUrl } = Object(
      endpoint,
    ) as Partial<Endpoint>;
    const isEndpoint = typeof method === "string" &&
      path?.startsWith("/") === true && typeof run === "function";
    if (!isEndpoint) {
      throw new TypeError(
        "Wrong option endpoints: each must have a method, a path and a function run; spread a list: [...await docs(…), …]",
      );
    }
    if (loaded === openApiUrl) continue;
    throw new TypeError(
      `Wrong option endpoints: the page at ${path} loads ${loaded}, but this service has ${openApiUrl}; pass await docs({ openApiUrl: "${openApiUrl}" })`,
    );
  }
}

function checkLayers(layers: readonly Layer[]): void {
  if (!Array.isArray(layers)) {
    throw new TypeError("Wrong option layers: it must be a list of functions");
  }
  for (const layer of layers) {
    if (typeof layer === "function") continue;
    throw new TypeError(
      `Wrong option layers: each must be a function, such as logLayer() or createDrain().layer, not ${
        shown(layer)
      }`,
    );
  }
}
