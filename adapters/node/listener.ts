/** A fetch function as a request listener of Node's `http.Server`. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { partsOf } from "../../core/handler.ts";
import { internalError } from "../../core/http/refusal.ts";
import {
  isPlainHost,
  requestUrl,
  STAND_IN_HOST,
} from "../serve/request_url.ts";
import {
  type FetchFunction,
  report,
  type ServeOptions,
} from "../serve/server.ts";
import { badRequest } from "./client_error.ts";
import type { Exchange } from "./exchange.ts";
import { findField } from "./headers.ts";
import { inTurn } from "./pipeline.ts";
import { makeRequest, NodeRequest, toRequest } from "./request.ts";
import { send, sendReply } from "./send.ts";

/** What `http.createServer()`, Express and others call with each request. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

type MountedRequest = IncomingMessage & { readonly originalUrl?: string };

/**
 * Makes the function that answers an exchange when it has its turn, and never throws. For a handler of
 * `createHandler` it makes no `Request` and `Response`: they cost as much as the rest of a small request.
 */
export function answerer(
  handle: FetchFunction,
  onError: (error: unknown) => void,
): (exchange: Exchange) => void {
  const parts = partsOf(handle);
  async function answer(exchange: Exchange, url: string): Promise<void> {
    try {
      if (parts === undefined) {
        await send(await handle(toRequest(exchange, url)), exchange);
        return;
      }
      const request = new NodeRequest(exchange, url);
      const { socket } = exchange.req;
      const { reply, cause } = await parts.service(request, socket);
      sendReply(reply, exchange);
      if (reply.status >= 500) parts.report(cause, makeRequest(exchange, url));
    } catch (error) {
      sendReply(internalError, exchange);
      if (!isDeparture(error, exchange)) report(onError, error);
    }
  }

  // A server sees the same host all day.
  let known = { host: "", isPlain: false };
  return (exchange) =>
    inTurn(exchange, () => {
      const { req } = exchange;
      const scheme = "encrypted" in req.socket ? "https" : "http";
      const host = findField(req.rawHeaders, "host");
      if (host !== null && host !== known.host) {
        known = { host, isPlain: isPlainHost(host) };
      }
      const authority = host !== null && known.isPlain ? host : STAND_IN_HOST;
      // Express and its like remove the prefix of a mount from `url`, and keep the whole here.
      const { originalUrl, url: target = "/" } = req as MountedRequest;
      const url = requestUrl(scheme, authority, originalUrl ?? target);
      // A request without Host must be refused, except for HTTP/1.0 (RFC 9112 §3.2).
      if (url === undefined || (host === null && req.httpVersion === "1.1")) {
        sendReply(badRequest, exchange);
      } else void answer(exchange, url);
    });
}

/**
 * Makes a request listener of a fetch function, for a server of your own:
 *
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
  const { onError = console.error } = options;
  const isOpen = (): boolean => true;
  const answer = answerer(handle, onError);
  return (req, res) => answer({ req, res, awaitsContinue: false, isOpen });
}

/** Whether an error says no more than that the client went away. */
function isDeparture(error: unknown, { req }: Exchange): boolean {
  return req.socket.destroyed && error instanceof DOMException &&
    error.name === "AbortError";
}
