/** A fetch function as a request listener of Node's `http.Server`. @module */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type HandlerParts, partsOf } from "../../core/handler.ts";
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

/** Answers one exchange, when it has its turn. Never throws. */
export type Answerer = (exchange: Exchange) => void;

/**
 * Makes the function that answers with `handle`. A handler of `createHandler` is answered without a
 * `Request` and a `Response`, which cost Node as much as the rest of a small request.
 */
export function answerer(
  handle: FetchFunction,
  onError: (error: unknown) => void,
): Answerer {
  const parts = partsOf(handle);
  const answer = parts === undefined
    ? (exchange: Exchange, url: string) =>
      void answerWithFetch(handle, { exchange, url, onError })
    : (exchange: Exchange, url: string) =>
      void answerWithService(parts, { exchange, url, onError });
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
      const url = requestUrl(scheme, authority, req.url ?? "/");
      // A request without Host must be refused, except for HTTP/1.0 (RFC 9112 §3.2).
      if (url === undefined || (host === null && req.httpVersion === "1.1")) {
        sendReply(badRequest, exchange);
      } else answer(exchange, url);
    });
}

interface Asked {
  readonly exchange: Exchange;
  readonly url: string;
  readonly onError: (error: unknown) => void;
}

async function answerWithService(
  { service, report: reportCause }: HandlerParts,
  { exchange, url, onError }: Asked,
): Promise<void> {
  try {
    const request = new NodeRequest(exchange, url);
    const { reply, cause } = await service(request, exchange.req.socket);
    if (reply.status >= 500) reportCause(cause, makeRequest(exchange, url));
    sendReply(reply, exchange);
  } catch (error) {
    failed(error, exchange, onError);
  }
}

async function answerWithFetch(
  handle: FetchFunction,
  { exchange, url, onError }: Asked,
): Promise<void> {
  try {
    await send(await handle(toRequest(exchange, url)), exchange);
  } catch (error) {
    failed(error, exchange, onError);
  }
}

function failed(
  error: unknown,
  exchange: Exchange,
  onError: (error: unknown) => void,
): void {
  sendReply(internalError, exchange);
  if (!isDeparture(error, exchange)) report(onError, error);
}

/**
 * A fetch function as a request listener, for those who have a server:
 *
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeListener } from "./mod.ts";
 *
 * createServer(toNodeListener((request) => new Response(`You asked for ${request.url}`)));
 * ```
 *
 * The request's path is that of `req.url`: under an Express mount (`app.use("/shop", listener)`), the
 * path below it. `X-Forwarded-*` is not looked at. A body that another parser, such as
 * `express.json()`, has read before cannot be read again: a create is then a fault.
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
