/**
 * The pipeline: host, path, method, key, rate limit, then an operation, which checks the input and
 * asks the storage, then what all answers get. The whole service in one place.
 */

import {
  type Answer,
  CONNECTION_FIELDS,
  type Fields,
  type Service,
  type ServiceRequest,
} from "./answer.ts";
import {
  internalError,
  invalidKey,
  outcomeUnknown,
  pathNotFound,
  petRemoved,
  Refusal,
  tooManyRequests,
  unavailable,
} from "./errors.ts";
import { normalizePath, parseTarget } from "./http/target.ts";
import { parseBearer, readVerified, type VerifiedKey } from "./keys.ts";
import type { Context, Endpoint } from "./operation.ts";
import { operationsOf } from "./operations.ts";
import { getPet, successor } from "./pet_store.ts";
import { isStorageError } from "./pets/pet_storage.ts";
import { createRouter, type Found } from "./router.ts";
import { isFieldValue } from "./runtimes.ts";

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

/** What a service is made of, beside its document. */
export interface ServiceOptions extends Omit<Context, "document"> {
  /** Decides which API keys are valid: see `createHandler`. */
  readonly keys: {
    verify(
      key: string,
    ):
      | VerifiedKey
      | boolean
      | undefined
      | Promise<VerifiedKey | boolean | undefined>;
  };
  /** Counts a request with a valid API key: receives the key, or its `caller` if it has one. */
  readonly rateLimit?:
    | ((
      caller: string,
    ) => RateLimitResult | Promise<RateLimitResult>)
    | undefined;
  /** Receives the cause of every 500 and 503, the request, its route, and the id of its key. */
  readonly onError: (
    cause: unknown,
    request: ServiceRequest,
    route: string | undefined,
    keyId: string | number | undefined,
  ) => void;
  /** More endpoints, at their own paths. */
  readonly endpoints: readonly Endpoint[];
}

/** Who may call, how often, and who receives the cause of a 500 or 503. */
export type PipelineOptions = Pick<
  ServiceOptions,
  "keys" | "rateLimit" | "onError"
>;

/** Makes the service: the operations below its base address, and `endpoints` at their own paths. */
export function createService(options: ServiceOptions & Context): Service {
  const { baseUrl, endpoints, hasGetPet } = options;
  const findOperation = createRouter(
    operationsOf(options).map(({ fields, run, ...operation }): Endpoint => ({
      ...operation,
      path: baseUrl.path + operation.path,
      fields: fields?.(baseUrl),
      run: (call) => run(call, options),
    })),
  );
  const findOther = createRouter(endpoints);
  // After its removal, the path of `getPet` answers every method with the same 404.
  const removedPath = baseUrl.path + getPet.path;
  const removed = { ...petRemoved(successor(baseUrl)), route: removedPath };
  const findRemoved = createRouter(
    hasGetPet ? [] : [{ method: "GET", path: removedPath }],
  );
  const notFound = pathNotFound(`${baseUrl.path}/openapi.json`);
  return createPipeline(
    (method, path) => {
      const normal = normalizePath(path);
      return findOperation(method, normal) ?? findOther(method, path) ??
        (findRemoved("GET", normal) && removed) ?? notFound;
    },
    options,
  );
}

/**
 * Makes the pipeline, which every request to an endpoint passes through; `find` answers all others.
 */
export function createPipeline(
  find: (method: string, path: string) => Found<Endpoint> | Answer,
  { keys, rateLimit, onError }: PipelineOptions,
): Service {
  return async (request, _connection, readBody) => {
    let endpoint: Endpoint | undefined;
    let limitFields: Fields | undefined;
    let keyId: VerifiedKey["id"] | undefined;
    try {
      const target = parseTarget(request);
      if (target instanceof Refusal) return target;
      const found = find(request.method, target.path);
      if ("status" in found) return found;
      const { parameter } = found;
      endpoint = found.endpoint;
      let scope = "";
      if (endpoint.isPublic !== true) {
        const key = parseBearer(request.headers.get("authorization"));
        if (key instanceof Refusal) return complete(key, endpoint);
        const verified = await keys.verify(key);
        if (verified === false || verified === undefined) {
          return complete(invalidKey, endpoint);
        }
        const { id, caller } = readVerified(verified);
        keyId = id;
        scope = caller === undefined ? key : scopeOf(caller);
        if (rateLimit !== undefined) {
          const counted = await rateLimit(caller ?? key);
          limitFields = readFields(counted);
          if (!counted.allowed) {
            return complete(tooManyRequests, endpoint, keyId, limitFields);
          }
        }
      }
      const { query } = target;
      const call = { request, query, parameter, scope, readBody };
      return complete(await endpoint.run(call), endpoint, keyId, limitFields);
    } catch (cause) {
      report(() => onError(cause, request, endpoint?.path, keyId));
      const refused = { ...refusalFor(cause), cause };
      return complete(refused, endpoint, keyId, limitFields);
    }
  };
}

/** Has a space, so that it never equals an API key. */
function scopeOf(caller: string): string {
  return `caller ${caller}`;
}

/** @throws {TypeError} if `rateLimit` returned anything else, or a field that cannot be sent. */
function readFields({ allowed, headers }: RateLimitResult): Fields {
  // Fields copied from a `fetch` response may include those of its connection.
  const fields = [...new Headers(headers)]
    .filter(([name]) => !CONNECTION_FIELDS.includes(name));
  const isSendable = fields.every(([name, value]) =>
    isFieldValue(value) &&
    name !== "content-length" && name !== "transfer-encoding"
  );
  if (typeof allowed === "boolean" && isSendable) {
    return Object.fromEntries(fields);
  }
  throw new TypeError(
    "Wrong result of rateLimit: it must be { allowed, headers }, with fields that can be sent",
  );
}

/**
 * Adds to an answer the route and header fields of its endpoint, those of the rate limit, which win,
 * and the key's id.
 */
function complete(
  answer: Answer,
  endpoint: Endpoint | undefined,
  keyId?: VerifiedKey["id"],
  limitFields?: Fields,
): Answer {
  const { status, headers, body, code } = answer;
  const { fields, path: route } = endpoint ?? {};
  const all = fields === undefined && limitFields === undefined
    ? headers // most answers need no others, and no copy
    : { ...headers, ...fields, ...limitFields };
  const completed = { status, headers: all, body, code, route, keyId };
  if (answer.isSent === false) return { ...completed, isSent: false };
  return "cause" in answer ? { ...completed, cause: answer.cause } : completed;
}

/** Calls a reporter, such as `onError`. If the reporter itself fails, ignores it. */
export function report(reporter: () => unknown): void {
  (async () => await reporter())().catch(() => {});
}

function refusalFor(cause: unknown): Refusal {
  try {
    if (!isStorageError(cause)) return internalError;
    return cause.kind === "unavailable"
      ? unavailable(cause.retryAfter)
      : outcomeUnknown;
  } catch {
    return internalError; // a cause that cannot even be inspected, such as a proxy
  }
}
