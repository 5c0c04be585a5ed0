/** Makes fetch functions behave on Deno and Bun as they do on Node. */

import { isHandler, respond } from "../../core/handler.ts";
import { isFieldValue } from "../../core/http/field_value.ts";
import { toResponse } from "../../core/http/message.ts";
import { internalError } from "../../core/http/refusal.ts";
import { noTunnel } from "../../core/http/target.ts";
import { report } from "../../core/report.ts";
import { isUrlHost, STAND_IN_HOST } from "./request_url.ts";
import type { FetchFunction } from "./server.ts";

/**
 * Makes a function that never fails: if `handle` throws, or returns no `Response` or one that
 * cannot be sent, the client is told `500`, and `onError` the cause. `handle` gets a URL that
 * parses and has the path of the request target, and no CONNECT. A handler of `createHandler` does
 * all this itself: its `answer` is called instead, and given the connection too.
 */
export function guard(
  handle: FetchFunction,
  onError: (error: unknown) => void,
): (request: Request, connection: unknown) => Promise<Response> {
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
        throw new TypeError("The fetch function did not return a Response");
      }
      for (const [name, value] of response.headers) {
        if (isFieldValue(value)) continue;
        throw new TypeError(`The field ${name} has a control character`);
      }
      return response;
    } catch (error) {
      return failed(error, onError);
    }
  };
}

/** Reports an error and answers 500; for the runtime too, if it cannot send a response. */
export function failed(
  error: unknown,
  onError: (error: unknown) => void,
): Response {
  report(() => onError(error));
  return toResponse(internalError);
}

/**
 * Deno 2.9 writes `http://`, the `Host` as it came and the target one after the other: `Host: a b`
 * makes a URL that does not parse, `Host: x/v1/pets?` one with another path (denoland/deno#29872).
 * For such a `Host` Bun 1.4 writes the target alone (oven-sh/bun#33721). The `Host` stays in the
 * header, for `handle` to refuse. Can go if tests/adapters/http/fetch_server_test.ts passes without
 * it on Deno and Bun.
 */
function makeUrlSafe(request: Request): void {
  const host = request.headers.get("host");
  if (host !== null && isUrlHost(host)) return;
  const { url } = request;
  const prefix = `http://${host}`;
  const target = url.startsWith(prefix) ? url.slice(prefix.length) : url;
  if (!target.startsWith("/")) return;
  // Not a new Request: that cannot be made of every method (TRACE: Fetch, "forbidden method"), and
  // Deno 2.9 warns that its signal aborts after each answer (denoland/deno#34397).
  Object.defineProperty(request, "url", {
    value: `http://${STAND_IN_HOST}${target}`,
  });
}
