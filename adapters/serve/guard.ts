/**
 * What Deno and Bun need put around a fetch function, so that it is asked, and answers, as on Node.
 *
 * @module
 */

import { INTERNAL_ERROR, NO_TUNNEL, refusalResponse } from "./refusal.ts";
import { isPlainHost, STAND_IN_HOST } from "./request_url.ts";
import { type FetchFunction, report } from "./server.ts";

/**
 * A fetch function that never fails: where `handle` throws, or returns no `Response`, the client is
 * told `500` and `onError` the cause. A request reaches `handle` with a URL that parses and has the
 * path of the request target; CONNECT, whose target has none, does not reach it.
 */
export function guard(
  handle: FetchFunction,
  onError: (error: unknown) => void,
): FetchFunction {
  const fail = (error: unknown): Response => {
    report(onError, error);
    return refusalResponse(INTERNAL_ERROR);
  };
  const check = (response: Response): Response => {
    try {
      if (response instanceof Response && response.type !== "error") {
        return response;
      }
    } catch (error) {
      return fail(error);
    }
    return fail(new TypeError("The fetch function did not return a Response"));
  };
  return (request) => {
    if (request.method === "CONNECT") return refusalResponse(NO_TUNNEL);
    try {
      makeUrlSafe(request);
      const response = handle(request);
      return response instanceof Promise
        ? response.then(check, fail)
        : check(response);
    } catch (error) {
      return fail(error);
    }
  };
}

/**
 * Deno writes `http://`, the `Host` as it came and the target one after the other: `Host: a b` makes
 * a URL that does not parse, `Host: x/v1/pets?` one with another path. Bun writes the target alone
 * where it likes the `Host` so little. Such a `Host` stays in the header, for `handle` to refuse.
 */
function makeUrlSafe(request: Request): void {
  const host = request.headers.get("host");
  if (host !== null && isPlainHost(host)) return;
  const { url } = request;
  const prefix = `http://${host}`;
  const target = url.startsWith(prefix) ? url.slice(prefix.length) : url;
  if (!target.startsWith("/")) return;
  // Not a new Request: that cannot be made of every method (TRACE), and makes Deno warn of signals.
  Object.defineProperty(request, "url", {
    value: `http://${STAND_IN_HOST}${target}`,
  });
}
