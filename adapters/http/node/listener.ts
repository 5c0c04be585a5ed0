/** Turns a handler into a request listener of Node's `http.Server`. */

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Answer,
  checkFunction,
  checkNames,
  type Handler,
  internalError,
  Refusal,
  report,
} from "../../../core/kit.ts";
import { checkHandler, type ServeOptions } from "../server.ts";
import { readBody } from "./body.ts";
import { headerTooLarge } from "./client_error.ts";
import { type Exchange, findField } from "./exchange.ts";
import { queueResponse } from "./pipeline.ts";
import { send } from "./send.ts";

/** What to do with other fetch functions on Node. */
export const OTHERS =
  "Do your own work in (req, res) before the listener, or serve other fetch functions with srvx";

/** `node:http2` has its own requests and responses. */
const noHttp2 = new Refusal(
  "internal_error",
  "Cannot answer HTTP/2: this handler is for node:http; put a proxy in front that accepts HTTP/2",
);

/**
 * A request of so many header fields is refused. Node 22, and `node:http` of Deno 2.9, drop those
 * that follow, which may be a second `Authorization`, an `Idempotency-Key` or an `Upgrade`. Node 24
 * and 26 refuse the request themselves (`server.maxHeadersCount` in their document HTTP).
 */
const MAX_FIELDS = 1000;

/**
 * The function that `http.createServer()`, Express and others call with each request. One of
 * `node:http2` gets a 500.
 */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Makes the listener of a handler, for our own server or any other. It creates no `Request` and no
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
    if (rawHeaders.length >= 2 * MAX_FIELDS) return headerTooLarge;
    // An HTTP/1.1 request without Host must be refused (RFC 9112 §3.2). The service refuses an
    // empty one, and so can log it.
    const noHost = req.httpVersion === "1.1" ? "" : null;
    // Building a `Headers` takes 20 times as long as looking up a field.
    const get = (name: string) =>
      findField(rawHeaders, name) ?? (name === "host" ? noHost : null);
    const scheme = "encrypted" in socket ? "https" : "http";
    // Frameworks such as Express remove the prefix of a mount from `url`, and keep the whole here
    // (Express 5's document of `req.originalUrl`).
    const { originalUrl = req.url }: IncomingMessage & {
      readonly originalUrl?: string;
    } = req;
    // The service refuses a malformed Host before it parses the URL, and an empty URL.
    const host = get("host") ?? "localhost";
    const url = requestUrl(scheme, host, String(originalUrl)) ?? "";
    const request = { method: String(method), url, headers: { get } };
    return await answer(
      request,
      socket,
      (limits, length) => readBody(exchange, limits, length),
    );
  }

  async function reply(exchange: Exchange): Promise<void> {
    try {
      const answer = await ask(exchange);
      if (answer.isSent === false) return void exchange.req.socket.destroy();
      await send(answer, exchange);
    } catch (error) {
      // A response that has begun can only be broken off.
      if (exchange.res.headersSent) exchange.res.destroy();
      else {
        // Node 26 keeps the status text of the response that it could not send (`writeHead`,
        // lib/_http_server.js). Can go if tests/adapters/http/node/send_test.ts passes without it.
        exchange.res.statusMessage &&= "";
        await send(internalError, exchange);
      }
      report(() => onError(error));
    }
  }

  return (req, res) => {
    const exchange = { req, res, awaitsContinue, server };
    // Not by its version: a client of node:http may write "HTTP/2.0" too, and gets an answer.
    if (!("stream" in req)) return queueResponse(exchange, reply);
    const { status, headers, body } = noHttp2;
    res.writeHead(status, headers).end(body);
    report(() => onError(new Error(noHttp2.message)));
  };
}

/**
 * Returns the URL of a request, with its path as it was sent: `/v1/../v1/pets` is not `/v1/pets`.
 *
 * @param target in origin form (`/v1/pets?limit=5`), absolute form (`http://example.com/v1/pets`),
 * whose host takes precedence (RFC 9112 §3.2.2), or asterisk form (`*`, which becomes the path
 * `/*`).
 * @param authority the `Host` field.
 * @returns the URL; `undefined` if the target has none of these forms.
 */
export function requestUrl(
  scheme: "http" | "https",
  authority: string,
  target: string,
): string | undefined {
  const path = target === "*" ? "/*" : target;
  if (!path.startsWith("/")) return absoluteUrl(target);
  return `${scheme}://${authority}${path}`;
}

function absoluteUrl(target: string): string | undefined {
  const [, path] = /^https?:\/\/[^/?#\\]+(.*)$/is.exec(target) ?? [];
  if (path === undefined || !URL.canParse(target)) return undefined;
  // Without credentials, because `Request` refuses a URL that has any (Fetch §5.4).
  return new URL(target).origin + (path.startsWith("/") ? path : `/${path}`);
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
 * If the service answers `noAnswer` of `@petstore/service/kit`, the connection is closed.
 *
 * @param handle what `createHandler` returns. Other fetch functions are served by libraries such as
 * srvx.
 * @param options `onError` receives errors of sending a response. Default: `console.error`.
 * @returns the listener; it never throws.
 * @throws {TypeError} if `handle` is another function, or an option is unknown or has the wrong
 * type.
 */
export function toNodeListener(
  handle: Handler,
  options: Pick<ServeOptions, "onError"> = {},
): NodeListener {
  checkHandler(handle, "toNodeListener", OTHERS);
  checkNames(options, ["onError"], "toNodeListener");
  const { onError = console.error } = options;
  checkFunction(onError, "onError");
  return createListener(handle, onError);
}
