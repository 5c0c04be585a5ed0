/** Makes fetch functions behave on Deno and Bun as they do on Node. */

import { isHandler, respond } from "../../core/http/fetch_handler.ts";
import { isFieldValue, toResponse } from "../../core/http/message.ts";
import { internalError } from "../../core/http/refusal.ts";
import { noTunnel } from "../../core/http/target.ts";
import { report } from "../../core/report.ts";
import { isUrlHost, STAND_IN_HOST } from "./request_url.ts";
import type { FetchFunction } from "./server.ts";

/**
 * Makes a function that never fails. If `handle` throws, returns no `Response`, or returns one that
 * cannot be sent, the client gets a `500`, and `onError` the cause. `handle` gets a URL that parses
 * and has the path of the request target; it never gets CONNECT. A handler made by `createHandler`
 * does all this itself, so its `answer` is called instead, with the connection.
 *
 * @throws {TypeError} if `handle` is not a function.
 */
export function guard(
  handle: FetchFunction,
  onError: (error: unknown) => void,
): (request: Request, connection: unknown) => Promise<Response> {
  if (typeof handle !== "function") {
    throw new TypeError(
      `Cannot serve this ${typeof handle}: serve takes a fetch function, such as createHandler(…) returns`,
    );
  }
  if (isHandler(handle)) {
    const { answer } = handle;
    return (request, connection) => respond(answer, request, connection);
  }
  return async (request: Request): Promise<Response> => {
    if (request.method === "CONNECT") return toResponse(noTunnel);
    try {
      makeUrlSafe(request);
      const response = await handle(request);
      if (!(response instanceof Response) || response.type === "error") {
        throw new TypeError(
          "Cannot answer: the fetch function did not return a Response",
        );
      }
      for (const [name, value] of response.headers) {
        if (isFieldValue(value)) continue;
        throw new TypeError(
          `Cannot answer: the field ${name} has a control character`,
        );
      }
      return response;
    } catch (error) {
      return failed(error, onError);
    }
  };
}

/** Reports an error and answers 500. The runtime also calls it if it cannot send a response. */
export function failed(
  error: unknown,
  onError: (error: unknown) => void,
): Response {
  report(() => onError(error));
  return toResponse(internalError);
}

/**
 * Deno 2.9 concatenates `http://`, the `Host` as it was sent, and the target: `Host: a b` makes a
 * URL that does not parse, `Host: x/v1/pets?` one with another path (denoland/deno#29872). For such
 * a `Host` Bun 1.4 uses the target alone (oven-sh/bun#33721). The `Host` stays in the header, for
 * `handle` to refuse. Can go if tests/adapters/http/fetch_server_test.ts passes without it on Deno
 * and Bun.
 */
function makeUrlSafe(request: Request): void {
  const host = request.headers.get("host");
  if (host !== null && isUrlHost(host)) return;
  const { url } = request;
  const prefix = `http://${host}`;
  const target = url.startsWith(prefix) ? url.slice(prefix.length) : url;
  if (!target.startsWith("/")) return;
  // Not a new Request: it cannot have every method (TRACE: Fetch, "forbidden method"), and Deno 2.9
  // warns that its signal aborts after each answer (denoland/deno#34397).
  Object.defineProperty(request, "url", {
    value: `http://${STAND_IN_HOST}${target}`,
  });
}
