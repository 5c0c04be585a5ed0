/** The options of the service, and how they are checked. */

import type { ServiceRequest } from "./answer.ts";
import { parseBaseUrl } from "./http/base_url.ts";
import { DEFAULT_LIMITS } from "./http/body.ts";
import type { VerifiedKey } from "./keys.ts";
import type { Context, Endpoint } from "./operation.ts";
import {
  checkFunction,
  checkIntegers,
  checkNames,
  MAX_TIME,
  shown,
} from "./options.ts";
import type { PetStorage } from "./pets/pet_storage.ts";
import { checkRuntime } from "./runtimes.ts";

/** The result of counting a request. */
export interface RateLimitResult {
  /** If false, the request is over the limit and answered with 429. */
  readonly allowed: boolean;
  /**
   * Header fields of the answer, such as `ratelimit`. In a 429, `retry-after` is 1 (second) by
   * default.
   */
  readonly headers?: Readonly<Record<string, string>>;
}

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
  readonly rateLimit?: (
    caller: string,
  ) => RateLimitResult | Promise<RateLimitResult>;
  /**
   * The page that documents the service: what `await docs(…)` of `@petstore/service/docs` returns.
   * Its `openApiUrl`, if it has one, must be the path of this service's document. Default: no page.
   */
  readonly docs?: {
    readonly endpoints: readonly Endpoint[];
    readonly openApiUrl?: string;
  };
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

/** The options of `createHandler`, checked and filled in, without `cors` and `docs`. */
export interface CheckedOptions extends Omit<Context, "document"> {
  /** Decides which API keys are valid. */
  readonly keys: HandlerOptions["keys"];
  /** Counts each request with a valid API key. */
  readonly rateLimit: HandlerOptions["rateLimit"] | undefined;
  /** Receives the cause of every 500 and 503. */
  readonly onError: NonNullable<HandlerOptions["onError"]>;
  /** More endpoints, at their own paths. */
  readonly endpoints: readonly Endpoint[];
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
  return { ...all, baseUrl: parsed, endpoints: docs?.endpoints ?? [] };
}
