/** Which web pages may read the service's responses: CORS, as the Fetch standard defines it. */

import type { Fields, Reply } from "./reply.ts";

/** Which origins may read responses. */
export interface CorsOptions {
  /** Serialized origins, such as `https://app.example.com`; `"*"` is every origin. */
  readonly origins: readonly string[] | "*";
}

/** Adds the CORS header fields to the reply to a request. */
export type AddCors = (request: CorsRequest, reply: Reply) => Reply;

interface CorsRequest {
  readonly method: string;
  readonly headers: Pick<Headers, "get">;
}

const EXPOSED =
  "Link, Location, Retry-After, X-Request-Id, Sunset, Deprecation, Idempotency-Replayed";
const PREFLIGHT: Fields = {
  "access-control-allow-headers":
    "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
  "access-control-max-age": "7200", // Chromium keeps no preflight longer
};

/**
 * Makes the function that adds the header fields. A preflight is answered as any other `OPTIONS`, and
 * so before the key is looked at.
 *
 * @throws {TypeError} if `origins` is neither `"*"` nor one or more serialized origins.
 */
export function createCors(options: CorsOptions): AddCors {
  const origins = options?.origins;
  checkOrigins(origins);
  const allowed = origins === "*" ? undefined : new Set(origins);
  // Caches must not give one origin what was meant for another (Fetch, CORS protocol and HTTP caches).
  const vary: Fields = allowed === undefined ? {} : { vary: "Origin" };

  return (request, reply) => {
    const origin = request.headers.get("origin");
    const { status, body } = reply;
    const headers = { ...reply.headers, ...vary };
    if (allowed !== undefined && (origin === null || !allowed.has(origin))) {
      return { status, headers, body };
    }
    const { allow = "" } = headers;
    const isPreflight = request.method === "OPTIONS" && status === 204 &&
      request.headers.get("access-control-request-method") !== null;
    const shared = {
      ...headers,
      "access-control-allow-origin": allowed === undefined ? "*" : origin ?? "",
      ...isPreflight
        ? { ...PREFLIGHT, "access-control-allow-methods": allow }
        : { "access-control-expose-headers": EXPOSED },
    };
    return { status, headers: shared, body };
  };
}

function checkOrigins(origins: unknown): void {
  const isValid = origins === "*" ||
    Array.isArray(origins) && origins.length > 0 && origins.every(isOrigin);
  if (isValid) return;
  throw new TypeError(
    `Wrong option cors.origins: it must be "*" or a list of origins such as "https://app.example.com", not ${
      JSON.stringify(origins)
    }`,
  );
}

/** Whether a value is what a browser may send in `Origin`: scheme, host, and a port if it is not the usual one. */
function isOrigin(value: unknown): boolean {
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url !== null && /^[^*]+$/.test(url.host) &&
    `${url.protocol}//${url.host}` === value;
}
