/** A fetch function as a request listener of Node's `http.Server`. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { serviceOf } from "../../../core/handler.ts";
import { internalError } from "../../../core/http/refusal.ts";
import { isUrlHost, requestUrl, STAND_IN_HOST } from "../request_url.ts";
import {
  checkHandle,
  type FetchFunction,
  type ServeOptions,
} from "../server.ts";
import { checkNames } from "../../../core/options.ts";
import { report } from "../../../core/report.ts";
import { badRequest } from "./client_error.ts";
import type { Exchange } from "./exchange.ts";
import { findField } from "./headers.ts";
import { queueResponse } from "./pipeline.ts";
import { NodeRequest, toRequest } from "./request.ts";
import { fromAnswer, fromResponse, type Outgoing, send } from "./send.ts";

/** The function that `http.createServer()`, Express and others call with each request. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Makes the listener of a fetch function, for a server of ours or any other. The service itself needs no
 * `Request` and `Response`, which cost as much as the rest of a small request.
 */
export function createListener(
  handle: FetchFunction,
  onError: (error: unknown) => void,
  { awaitsContinue = false, server }: Partial<
    Pick<Exchange, "awaitsContinue" | "server">
  > = {},
): NodeListener {
  const service = serviceOf(handle);

  async function answer(exchange: Exchange): Promise<Outgoing> {
    const { req } = exchange;
    const host = findField(req.rawHeaders, "host");
    // The service checks the Host itself, before it looks at the URL.
    const isTrusted = host !== null &&
      (service !== undefined || isUrlHost(host));
    const scheme = "encrypted" in req.socket ? "https" : "http";
    const authority = isTrusted ? host : STAND_IN_HOST;
    // Express and its like remove the prefix of a mount from `url`, and keep the whole here (Express 5's document of
    // `req.originalUrl`).
    const { originalUrl = req.url }: IncomingMessage & {
      readonly originalUrl?: string;
    } = req;
    const url = requestUrl(scheme, authority, String(originalUrl));
    // A request without Host must be refused, except for HTTP/1.0 (RFC 9112 §3.2).
    if (url === undefined || (host === null && req.httpVersion === "1.1")) {
      return fromAnswer(badRequest);
    }
    return service === undefined
      ? fromResponse(await handle(toRequest(exchange, url)))
      : fromAnswer(await service(new NodeRequest(exchange, url), req.socket));
  }

  async function respond(exchange: Exchange): Promise<void> {
    try {
      await send(await answer(exchange), exchange);
    } catch (error) {
      // A response that has begun can only be broken off.
      if (exchange.res.headersSent) exchange.res.destroy();
      else {
        // Node 26 keeps the status text of the response that it could not send (`writeHead`, lib/_http_server.js).
        // Can go if tests/adapters/http/node/node_test.ts passes without it.
        const statusText = "Internal Server Error";
        send({ ...fromAnswer(internalError), statusText }, exchange);
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
 * Makes a request listener of a fetch function, for a server of your own:
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeListener } from "@petstore/service/node";
 *
 * createServer(toNodeListener((request) => new Response(`You asked for ${request.url}`)));
 * ```
 *
 * The request's path is the one the client sent, also under an Express mount (`app.use("/v1", listener)`),
 * which removes its prefix from `req.url`. `X-Forwarded-*` is ignored. A body that another parser, such as
 * `express.json()`, has read before cannot be read again: a create is then answered with 500.
 */
export function toNodeListener(
  handle: FetchFunction,
  options: Pick<ServeOptions, "onError"> = {},
): NodeListener {
  checkHandle(handle, "toNodeListener");
  checkNames(options, ["onError"], "toNodeListener");
  const { onError = console.error } = options;
  return createListener(handle, onError);
}
