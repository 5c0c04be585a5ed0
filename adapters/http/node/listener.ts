/** A handler as a request listener of Node's `http.Server`. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Handler, isHandler } from "../../../core/handler.ts";
import type { Answer } from "../../../core/http/message.ts";
import { internalError } from "../../../core/http/refusal.ts";
import { checkFunction, checkNames } from "../../../core/options.ts";
import { report } from "../../../core/report.ts";
import { requestUrl, STAND_IN_HOST } from "../request_url.ts";
import type { ServeOptions } from "../server.ts";
import { readBody } from "./body.ts";
import { badRequest } from "./client_error.ts";
import type { Exchange } from "./exchange.ts";
import { findField } from "./headers.ts";
import { queueResponse } from "./pipeline.ts";
import { send } from "./send.ts";

/** The function that `http.createServer()`, Express and others call with each request. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Makes the listener of a handler, for a server of ours or any other. It makes no `Request` and
 * `Response`, which would cost as much as the rest of a small request.
 */
export function createListener(
  { answer }: Handler,
  onError: (error: unknown) => void,
  { awaitsContinue = false, server }: Partial<
    Pick<Exchange, "awaitsContinue" | "server">
  > = {},
): NodeListener {
  async function ask(exchange: Exchange): Promise<Answer> {
    const { req } = exchange;
    const { method, rawHeaders, socket } = req;
    // To build a `Headers` takes 20 times as long as to look up a field.
    const get = (name: string) => findField(rawHeaders, name);
    const host = get("host");
    const scheme = "encrypted" in socket ? "https" : "http";
    // Express and its like remove the prefix of a mount from `url`, and keep the whole here
    // (Express 5's document of `req.originalUrl`).
    const { originalUrl = req.url }: IncomingMessage & {
      readonly originalUrl?: string;
    } = req;
    // The service checks the Host itself, before it looks at the URL.
    const authority = host ?? STAND_IN_HOST;
    const url = requestUrl(scheme, authority, String(originalUrl));
    // A request without Host must be refused, except for HTTP/1.0 (RFC 9112 §3.2).
    if (url === undefined || (host === null && req.httpVersion === "1.1")) {
      return badRequest;
    }
    const request = { method: String(method), url, headers: { get } };
    return await answer(
      request,
      socket,
      (limits, length) => readBody(exchange, limits, length),
    );
  }

  async function respond(exchange: Exchange): Promise<void> {
    try {
      await send(await ask(exchange), exchange);
    } catch (error) {
      // A response that has begun can only be broken off.
      if (exchange.res.headersSent) exchange.res.destroy();
      else {
        // Node 26 keeps the status text of the response that it could not send (`writeHead`,
        // lib/_http_server.js). Can go if tests/adapters/http/node/node_test.ts passes without it.
        const statusText = "Internal Server Error";
        await send(internalError, exchange, statusText);
      }
      // If the client went away, an AbortError says no more than that.
      const isDeparture = exchange.req.socket.destroyed &&
        error instanceof DOMException && error.name === "AbortError";
      if (!isDeparture) report(() => onError(error));
    }
  }

  return (req, res) =>
    queueResponse({ req, res, awaitsContinue, server }, respond);
}

/**
 * Makes a request listener of the service, for a server of your own:
 *
 * @example Mount it
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeListener } from "@petstore/service/node";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const keys = apiKeys(["secret"]);
 * const handle = createHandler({ storage: memoryStorage(), keys });
 * createServer(toNodeListener(handle));
 * ```
 *
 * The request's path is the one the client sent, even under an Express mount (`app.use("/v1",
 * listener)`), which removes its prefix from `req.url`. `X-Forwarded-*` is ignored. A body that
 * another parser, such as `express.json()`, has read before cannot be read again: a create is then
 * answered with 500.
 *
 * @param handle what `createHandler` returns. Other fetch functions are served by libraries such as
 * srvx.
 * @param options where errors of sending a response are reported: by default to `console.error`.
 * @returns the listener; it never throws.
 * @throws {TypeError} if `handle` is another function, or an option is unknown or of a wrong kind.
 */
export function toNodeListener(
  handle: Handler,
  options: Pick<ServeOptions, "onError"> = {},
): NodeListener {
  checkHandler(handle, "toNodeListener");
  checkNames(options, ["onError"], "toNodeListener");
  const { onError = console.error } = options;
  checkFunction(onError, "onError");
  return createListener(handle, onError);
}

/** @throws {TypeError} if `handle` is not a handler; `taker` is what it was passed to. */
export function checkHandler(handle: unknown, taker: string): void {
  if (isHandler(handle)) return;
  throw new TypeError(
    `Cannot serve this ${typeof handle}: on Node, ${taker} takes what createHandler(…) returns. ` +
      "Do work of your own in (req, res) before the listener, or serve other fetch functions with srvx",
  );
}
