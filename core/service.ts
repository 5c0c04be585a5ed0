/** The pipeline: host, path, method, key, rate limit, input, storage, answer. The whole service in one place. */

import type { BaseUrl } from "./http/base_url.ts";
import type {
  Answer,
  Fields,
  Service,
  ServiceRequest,
} from "./http/message.ts";
import {
  internalError,
  outcomeUnknown,
  Refusal,
  tooManyRequests,
  unavailable,
} from "./http/refusal.ts";
import { createRouter } from "./http/router.ts";
import { staticContent } from "./http/static_content.ts";
import { normalizePath, parseTarget } from "./http/target.ts";
import { checkExact } from "./json.ts";
import type { ApiKeys } from "./keys/api_keys.ts";
import { invalidKey, parseBearer } from "./keys/authenticate.ts";
import { openApiDocument } from "./openapi/document.ts";
import type { Context, Endpoint } from "./operations/operation.ts";
import { operations } from "./operations/operations.ts";
import { checkFunction, checkIntegers } from "./options.ts";
import { type PetStorage, StorageError } from "./pets/pet_storage.ts";
import { report } from "./report.ts";
import { traced } from "./trace.ts";

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
  /** Time that a body may take to arrive in full, in ms: 1 to 2147483647. Default: 10000. */
  readonly bodyTimeout?: number;
  /**
   * Which web pages may read responses: those of these origins, such as `https://app.example.com`, or
   * of all, `"*"`. Default: none but those of the service's own origin.
   */
  readonly cors?: { readonly origins: readonly string[] | "*" };
  /** Counts each request with a valid API key. Default: no limit. */
  readonly rateLimit?: (key: string) => Promise<RateLimitResult>;
  /**
   * Receives the cause of every 500 and 503, which the client never sees, and the request. If it fails
   * itself, that is ignored. Default: `console.error`.
   */
  readonly onError?: (cause: unknown, request: ServiceRequest) => void;
}

/** The result of counting a request. */
export interface RateLimitResult {
  /** If false, the request is one too many: it is answered 429. */
  readonly allowed: boolean;
  /** Header fields of the answer by lower-case name, such as `ratelimit` and `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ServiceOptions
  extends Omit<HandlerOptions, "baseUrl" | "cors"> {
  readonly baseUrl: BaseUrl;
}

/** An endpoint at its full path, with the header fields of all its responses. */
interface Mounted extends Omit<Endpoint, "fields"> {
  readonly fields: Fields | undefined;
}

/** Makes the service, with `others` at paths outside the base address. Throws as `createHandler` does. */
export function createService(
  options: ServiceOptions,
  others: readonly Endpoint[] = [],
): Service {
  checkExact();
  const { storage, keys, baseUrl, rateLimit, onError } = options;
  const { maxBodyBytes = 65_536, bodyTimeout = 10_000 } = options;
  if (storage instanceof Promise) {
    throw new TypeError("Wrong option storage: it is a promise, so await it");
  }
  for (const method of ["create", "get", "list"] as const) {
    checkFunction(storage?.[method], `storage.${method}`);
  }
  checkFunction(keys?.verify, "keys.verify");
  if (rateLimit !== undefined) checkFunction(rateLimit, "rateLimit");
  checkIntegers({ maxBodyBytes }, 1);
  // A longer timer would fire at once.
  checkIntegers({ bodyTimeout }, 1, 2 ** 31 - 1);
  const context: Context = {
    storage,
    baseUrl,
    maxBodyBytes,
    bodyTimeout,
    document: staticContent(
      () => JSON.stringify(openApiDocument(baseUrl, operations)),
      { "content-type": "application/json" },
    ),
  };

  const mount = (endpoint: Endpoint, path: string): Mounted => (
    { ...endpoint, path, fields: endpoint.fields?.(baseUrl) }
  );
  const findOperation = createRouter(
    operations.map((each) => mount(each, baseUrl.path + each.path)),
  );
  const findOther = createRouter(others.map((each) => mount(each, each.path)));
  const notFound = new Refusal(
    "not_found",
    `Cannot find this path: ${baseUrl.path}/openapi.json describes those of the service`,
  );

  return traced(async (request) => {
    let mounted: Mounted | undefined;
    let counted: Fields | undefined;
    try {
      const target = parseTarget(request);
      if (target instanceof Refusal) return target;
      const { path, query } = target;
      const found = findOperation(request.method, normalizePath(path)) ??
        findOther(request.method, path) ?? notFound;
      if ("status" in found) return found;
      mounted = found.route;
      let apiKey = "";
      if (mounted.isPublic !== true) {
        const key = parseBearer(request.headers.get("authorization"));
        if (key instanceof Refusal) return complete(key, mounted);
        if (await keys.verify(key) !== true) {
          return complete(invalidKey, mounted);
        }
        apiKey = key;
        const limit = rateLimit && await rateLimit(key);
        if (limit !== undefined) {
          counted = readFields(limit);
          if (!limit.allowed) {
            return complete(tooManyRequests, mounted, counted);
          }
        }
      }
      const call = { request, query, petId: found.parameter, apiKey };
      return complete(await mounted.run(call, context), mounted, counted);
    } catch (cause) {
      report(() => onError?.(cause, request));
      return { ...complete(refusalFor(cause), mounted, counted), cause };
    }
  });
}

/** @throws {TypeError} if `rateLimit` returned something else, or a field that cannot be sent. */
function readFields({ allowed, headers }: RateLimitResult): Fields {
  const fields = [...new Headers(headers)];
  // Headers takes control characters, with which Deno would end the process (RFC 9110 §5.5).
  const isSendable = fields.every(([name, value]) =>
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
    name !== "content-length" && name !== "transfer-encoding"
  );
  if (typeof allowed === "boolean" && isSendable) {
    return Object.fromEntries(fields);
  }
  throw new TypeError(
    "Wrong result of rateLimit: it must be { allowed, headers }, with fields that can be sent",
  );
}

/** Adds to an answer the header fields and the route of its endpoint, and the fields of a rate limit. */
function complete(
  answer: Answer,
  mounted: Mounted | undefined,
  counted?: Fields,
): Answer {
  const headers = { ...answer.headers, ...mounted?.fields, ...counted };
  return { ...answer, headers, route: mounted?.path };
}

function refusalFor(cause: unknown): Refusal {
  try {
    if (!(cause instanceof StorageError)) return internalError;
    return cause.kind === "unavailable"
      ? unavailable(cause.retryAfter)
      : outcomeUnknown;
  } catch {
    return internalError; // a cause that cannot even be looked at, such as a proxy
  }
}
