/** CORS, as the Fetch standard defines it: which web pages may read the service's responses. */

import {
  checkNames,
  type Fields,
  isBelow,
  shown,
  withFields,
} from "../../core/kit.ts";
import { placed, type PlacedLayer } from "./order.ts";

const EXPOSED =
  "Link, Location, Retry-After, X-Request-Id, Sunset, Deprecation, " +
  "Idempotent-Replayed, ETag, RateLimit, RateLimit-Policy, WWW-Authenticate, " +
  "Allow, Accept";
const PREFLIGHT: Fields = {
  "access-control-allow-headers":
    "Authorization, Content-Type, Idempotency-Key, X-Request-Id, If-None-Match",
  // In seconds. Chromium since version 76 keeps no preflight longer (MDN, Access-Control-Max-Age).
  "access-control-max-age": "7200",
};

/**
 * Makes the layer that adds the header fields to answers whose path is below `basePath`, and so not
 * to probes and metrics. A preflight is answered like any other `OPTIONS`, before the key is
 * checked. The option `cors` of `createHandler` makes it.
 *
 * @example For a service of your own
 * ```ts
 * import { corsLayer } from "@petstore/service/layers";
 * import { jsonAnswer, toHandler } from "@petstore/service/kit";
 * import assert from "node:assert/strict";
 *
 * const readable = corsLayer({ origins: ["https://app.example.com"] });
 * const handle = toHandler(readable(async () => jsonAnswer(200, "[]")));
 * const headers = { origin: "https://app.example.com" };
 * const response = await handle(new Request("http://localhost/", { headers }));
 * assert.equal(response.headers.get("access-control-allow-origin"), headers.origin);
 * ```
 *
 * @throws {TypeError} if an option is unknown, or `origins` is neither `"*"` nor one or more
 * serialized origins.
 */
export function corsLayer(
  options: { readonly origins: readonly string[] | "*" },
  basePath = "",
): PlacedLayer {
  checkNames(options, ["origins"], "cors");
  const { origins } = options;
  const isValid = origins === "*" ||
    Array.isArray(origins) && origins.length > 0 && origins.every(isOrigin);
  if (!isValid) {
    const sent = Array.isArray(origins)
      ? `[${origins.map(withoutUser)}]`
      : withoutUser(origins);
    throw new TypeError(
      `Wrong option cors.origins: it must be "*" or a list of origins such as "https://app.example.com" (no slash at the end), not ${sent}`,
    );
  }
  const allowed = origins === "*" ? undefined : new Set(origins);

  return placed("cors", (service) => async (request, ...rest) => {
    const answer = await service(request, ...rest);
    if (!isBelow(request, basePath)) return answer;
    const { allow, vary: others } = answer.headers;
    // Caches must not serve one origin's response to another (Fetch, CORS protocol and HTTP
    // caches).
    const vary: Fields = allowed === undefined
      ? {}
      : { vary: others === undefined ? "Origin" : `${others}, Origin` };
    const origin = allowed === undefined ? "*" : request.headers.get("origin");
    if (origin === null || allowed?.has(origin) === false) {
      return withFields(answer, vary);
    }
    const isPreflight = request.method === "OPTIONS" && allow !== undefined &&
      request.headers.get("access-control-request-method") !== null;
    return withFields(answer, {
      ...vary,
      "access-control-allow-origin": origin,
      ...isPreflight
        ? { ...PREFLIGHT, "access-control-allow-methods": allow }
        : { "access-control-expose-headers": EXPOSED },
    });
  });
}

/**
 * Tells whether a browser may send a value in `Origin`: scheme, host, and a port if it is not the
 * default.
 */
function isOrigin(value: unknown): boolean {
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url !== null && /^[^*]+$/.test(url.host) &&
    `${url.protocol}//${url.host}` === value;
}

/** Shows a value without a possible password. */
function withoutUser(value: unknown): string {
  return shown(
    typeof value === "string" ? value.replace(/^.*@/s, "…@") : value,
  );
}
