/**
 * A fetch function as a request listener of Node's `http.Server`.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Exchange } from "./exchange.ts";
import { findField } from "./headers.ts";
import { inTurn } from "./pipeline.ts";
import { nodeRequest } from "./request.ts";
import { send, sendRefusal } from "./send.ts";
import { BAD_REQUEST, INTERNAL_ERROR } from "../serve/refusal.ts";
import { requestUrl } from "../serve/request_url.ts";
import {
  type FetchFunction,
  report,
  type ServeOptions,
} from "../serve/server.ts";

/** What `http.createServer()`, Express and others call with each request. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

/** Answers one exchange with a fetch function, when it has its turn. Never throws. */
export function answer(
  handle: FetchFunction,
  exchange: Exchange,
  onError: (error: unknown) => void,
): void {
  inTurn(exchange, () => answerNow(handle, exchange, onError));
}

function answerNow(
  handle: FetchFunction,
  exchange: Exchange,
  onError: (error: unknown) => void,
): void {
  const fail = (error: unknown): void => {
    sendRefusal(INTERNAL_ERROR, exchange);
    if (!isDeparture(error, exchange)) report(onError, error);
  };
  const { req } = exchange;
  const scheme = "encrypted" in req.socket ? "https" : "http";
  const host = findField(req.rawHeaders, "host");
  const url = requestUrl(scheme, host, req.url ?? "/");
  // Without Host a request must be refused, but for HTTP/1.0 (RFC 9112 §3.2).
  if (url === undefined || (host === null && req.httpVersion === "1.1")) {
    return sendRefusal(BAD_REQUEST, exchange);
  }
  try {
    const response = handle(nodeRequest(exchange, url));
    if (isPromise(response)) {
      // One promise less than then().catch().
      response.then((response) => trySend(response, exchange, fail), fail);
    } else {
      trySend(response, exchange, fail);
    }
  } catch (error) {
    fail(error);
  }
}

function trySend(
  response: unknown,
  exchange: Exchange,
  fail: (error: unknown) => void,
): void {
  try {
    send(response, exchange)?.catch(fail);
  } catch (error) {
    fail(error);
  }
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
 * path below it. `X-Forwarded-*` is not looked at. A body that another parser has read before, such
 * as `express.json()`, is empty.
 *
 * The request is a `Request`, but one that Node's own `Request` constructor cannot look into. To
 * derive another, write `new Request(request.clone(), init)` or `new Request(request.url, request)`.
 */
export function toNodeListener(
  handle: FetchFunction,
  options: Pick<ServeOptions, "onError"> = {},
): NodeListener {
  const { onError = console.error } = options;
  const isOpen = (): boolean => true;
  return (req, res) =>
    answer(handle, { req, res, awaitsContinue: false, isOpen }, onError);
}

/** Whether an error says no more than that the client went away. */
function isDeparture(error: unknown, { req }: Exchange): boolean {
  return req.socket.destroyed && error instanceof DOMException &&
    error.name === "AbortError";
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value;
}
