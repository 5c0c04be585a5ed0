/** The pipeline: host, path, method, key, rate limit, input, storage, reply. The whole service in one place. */

import { type BaseUrl, parseBaseUrl } from "./http/base_url.ts";
import { createCors } from "./http/cors.ts";
import { Deadlines } from "./http/deadlines.ts";
import {
  internalError,
  outcomeUnknown,
  Refusal,
  tooManyRequests,
  unavailable,
  unavailableFor,
} from "./http/refusal.ts";
import { type Fields, JSON_HEADERS, type Reply } from "./http/reply.ts";
import { createRouter, type Route } from "./http/route.ts";
import { staticReply } from "./http/static_reply.ts";
import { targetParser } from "./http/target.ts";
import type { ApiKeys } from "./keys/api_keys.ts";
import { invalidKey, parseBearer } from "./keys/authenticate.ts";
import { openApi } from "./openapi/openapi.ts";
import type { Context, ServiceRequest } from "./operation.ts";
import { operations } from "./operations.ts";
import { deprecationHeaders } from "./pets/get_pet.ts";
import { checkExact } from "./pets/int64.ts";
import { type PetStorage, StorageError } from "./pets/pet_storage.ts";

/** Settings of `createHandler`. */
export interface HandlerOptions {
  /** Keeps the pets. */
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
   * it is trusted; if you replace the body, delete the header.
   */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive in full, in ms: 1 to 2147483647. Default: 10000. */
  readonly bodyTimeout?: number;
  /**
   * Which web pages may read responses: those of these origins, such as `https://app.example.com`, or
   * of all, `"*"`. Default: none but those of the service's own origin.
   */
  readonly cors?: { readonly origins: readonly string[] | "*" };
  /**
   * Called with the valid API key of each request. If that key was used too often, fulfilled with the
   * header fields of the 429, such as `{ "retry-after": "10" }`; otherwise with `undefined`. Default: no
   * limit.
   */
  readonly rateLimit?: (
    key: string,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Receives the cause of every 500 and 503, which the client never sees. If it fails itself, that is
   * ignored. Default: `console.error`.
   */
  readonly onError?: (cause: unknown, request: Request) => void;
}

/** Settings of {@linkcode createService}. */
export type ServiceOptions = Omit<HandlerOptions, "onError">;

/** What became of a request. */
export interface Answer {
  readonly reply: Reply;
  /** The path as a template, `/v1/pets/{petId}`, for logs and traces; absent if there is no such path. */
  readonly template?: string | undefined;
  /** What went wrong, if the reply is a 500 or a 503. */
  readonly cause?: unknown;
}

/**
 * Answers requests with plain data. It never rejects. `connection` is whatever the runtime hands over
 * with a request; the service itself does not look at it.
 */
export type Service = (
  request: ServiceRequest,
  connection?: unknown,
) => Promise<Answer>;

/**
 * Makes the service.
 *
 * @throws as `createHandler` does.
 */
export function createService(options: ServiceOptions): Service {
  checkExact();
  checkOptions(options);
  const { storage, keys, cors, rateLimit } = options;
  const { baseUrl: address = "/v1" } = options;
  const baseUrl = parseBaseUrl(address);
  const context: Context = {
    storage,
    baseUrl,
    maxBodyBytes: options.maxBodyBytes ?? 65_536,
    deadlines: new Deadlines(options.bodyTimeout ?? 10_000),
    document: staticReply(() => JSON.stringify(openApi(address)), {
      "content-type": "application/json",
      // no-store, as the other responses have it, would make the ETag useless.
      "cache-control": "no-cache",
    }),
  };
  const parseTarget = targetParser();
  const findRoute = createRouter(baseUrl.path, operations);
  const finish = finisher(baseUrl);
  const addCors = cors === undefined ? undefined : createCors(cors);

  async function answer(request: ServiceRequest): Promise<Answer> {
    let route: Route | undefined;
    try {
      const target = parseTarget(request);
      if (target instanceof Refusal) return { reply: target };
      route = findRoute(request.method, target.path);
      if ("reply" in route) return route;
      const { operation, parameter } = route;
      if (!operation.isPublic) {
        const key = parseBearer(request.headers.get("authorization"));
        if (key instanceof Refusal) return finish(route, key);
        if (await keys.verify(key) !== true) return finish(route, invalidKey);
        const limited = rateLimit && await rateLimit(key);
        if (limited) return finish(route, tooMany(limited));
      }
      const call = { request, query: target.query, petId: parameter };
      return finish(route, await operation.run(call, context));
    } catch (cause) {
      return { ...finish(route, refusalFor(cause)), cause };
    }
  }

  if (addCors === undefined) return answer;
  return async (request) => {
    const answered = await answer(request);
    return { ...answered, reply: addCors(request, answered.reply) };
  };
}

/** @throws {TypeError} if a field cannot be sent. */
function tooMany(fields: Fields): Reply {
  const { status, headers, body } = tooManyRequests;
  const added = Object.fromEntries(new Headers(fields));
  return { status, headers: { ...headers, ...added }, body };
}

/** Makes the function that turns the reply of a route into its answer. */
function finisher(
  baseUrl: BaseUrl,
): (route: Route | undefined, reply: Reply) => Answer {
  const deprecation = deprecationHeaders(baseUrl);
  const deprecated = Object.freeze({ ...JSON_HEADERS, ...deprecation });

  function deprecate(headers: Fields): Fields {
    return headers === JSON_HEADERS
      ? deprecated
      : { ...headers, ...deprecation };
  }

  return (route, reply) => {
    if (route?.template === undefined) return { reply };
    const { template } = route;
    if ("reply" in route || !route.operation.isDeprecated) {
      return { reply, template };
    }
    const { status, headers, body } = reply;
    return { reply: { status, headers: deprecate(headers), body }, template };
  };
}

function refusalFor(cause: unknown): Refusal {
  try {
    if (!(cause instanceof StorageError)) return internalError;
    if (cause.kind !== "unavailable") return outcomeUnknown;
    const { retryAfter } = cause;
    return retryAfter > 1 ? unavailableFor(retryAfter) : unavailable;
  } catch {
    return internalError; // a cause that cannot even be looked at, such as a proxy
  }
}

function checkOptions(options: ServiceOptions): void {
  const { storage, keys, baseUrl, rateLimit } = options;
  const { maxBodyBytes, bodyTimeout } = options;
  if (storage instanceof Promise) {
    throw new TypeError("Wrong option storage: it is a promise, so await it");
  }
  for (const method of ["create", "get", "list"] as const) {
    checkKind(storage?.[method], "function", `storage.${method}`);
  }
  checkKind(keys?.verify, "function", "keys.verify");
  if (baseUrl !== undefined) checkKind(baseUrl, "string", "baseUrl");
  if (rateLimit !== undefined) checkKind(rateLimit, "function", "rateLimit");
  checkRange(maxBodyBytes, Number.MAX_SAFE_INTEGER, "maxBodyBytes");
  checkRange(bodyTimeout, 2 ** 31 - 1, "bodyTimeout"); // a longer timer fires at once
}

/** @throws {TypeError} if an option is of another kind. */
export function checkKind(
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
