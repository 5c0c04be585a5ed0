/**
 * Serves what `createHandler` returns with Node's own HTTP server.
 *
 * @module
 */

import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import {
  checkIntegers,
  type Handler,
  MAX_TIME,
  noTunnel,
} from "../../../core/kit.ts";
import { clientErrorListener, refuse } from "./client_error.ts";
import { createListener, type NodeListener, OTHERS } from "./listener.ts";
import { currentResponse } from "./pipeline.ts";
import {
  checkHandler,
  listenError,
  listening,
  readServeOptions,
  type ServeOptions,
  type Server,
} from "../server.ts";

export { type NodeListener, toNodeListener } from "./listener.ts";
export type { Handler } from "../../../core/kit.ts";
export type { ServeOptions, Server } from "../server.ts";

/** Settings of {@linkcode serve} on Node. */
export interface NodeServeOptions extends ServeOptions {
  /**
   * How long a client may take to send the header of a request, in ms: 0 to 2147483647 and at most
   * `requestTimeout`; 0 means no limit. Default: 10000. This and `requestTimeout` are checked once
   * a second; a client that is too slow gets a `408`.
   */
  readonly headersTimeout?: number;
  /**
   * How long a client may take to send a whole request, including its body, in ms: 0 to 2147483647;
   * 0 means no limit. Default: 30000. The response may take any time.
   */
  readonly requestTimeout?: number;
  /**
   * How long a connection may be idle between requests, in ms: 0 to 2147483647; 0 means no limit.
   * Default: 5000.
   */
  readonly keepAliveTimeout?: number;
}

/**
 * Listens, and answers every request with the service.
 *
 * @example Serve
 * ```ts
 * import { serve } from "@petstore/service/node";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const keys = apiKeys(["secret"]);
 * const handle = createHandler({ storage: memoryStorage(), keys });
 * const server = await serve(handle, { port: 0 });
 * await server.close();
 * ```
 *
 * @param handle what `createHandler` returns. Other fetch functions are served by libraries such as
 * srvx.
 * @param options where to listen, and how long to wait for clients.
 * @returns the server, once it listens. Rejects if it cannot, for example because the port is in
 * use.
 */
export async function serve(
  handle: Handler,
  options: NodeServeOptions = {},
): Promise<Server> {
  checkHandler(handle, "serve", OTHERS);
  const { port, hostname, onError } = readServeOptions(
    options,
    "headersTimeout",
    "requestTimeout",
    "keepAliveTimeout",
  );
  // `close` needs Node's internals, and would not work on Bun 1.4. Can go if the contract of
  // tests/adapters/http/fetch_server_test.ts passes there with this `serve`.
  if ("Bun" in globalThis) {
    throw new TypeError(
      "Cannot serve on Bun: use serve of @petstore/service/bun",
    );
  }
  const server = createFetchServer(handle, onError, options);
  const close = closer(server);
  try {
    server.listen(port, hostname);
    await once(server, "listening");
    // It listens on TCP, so this is not a path.
    const { address, port: listensOn } = server.address() as AddressInfo;
    return listening({ hostname: address, port: listensOn }, close);
  } catch (cause) {
    throw listenError(hostname, port, cause);
  }
}

function createFetchServer(
  handle: Handler,
  onError: (error: unknown) => void,
  options: NodeServeOptions,
): HttpServer {
  const {
    requestTimeout = 30_000,
    // Node refuses one above requestTimeout (its document HTTP, `http.createServer`).
    headersTimeout = Math.min(10_000, Number(requestTimeout) || Infinity),
    keepAliveTimeout = 5_000,
  } = options;
  const times = { requestTimeout, headersTimeout, keepAliveTimeout };
  checkIntegers(times, 0, MAX_TIME);
  // A variable, because older @types/node lack `optimizeEmptyRequests` (nodejs/node#59778).
  const settings = {
    ...times,
    connectionsCheckingInterval: 1000,
    // The listener refuses a request without Host: Node 26 would do so without a body (same
    // document). Can go if tests/adapters/http/node/client_error_test.ts passes without it.
    requireHostHeader: false,
    // A request that announces no body emits no stream events (same document). We use none there,
    // and this saves a tenth of a small request. Node 22 ignores the option.
    optimizeEmptyRequests: true,
  };
  const server = createServer(settings);
  const listen = (awaitsContinue: boolean): NodeListener =>
    createListener(handle, onError, { awaitsContinue, server });
  server.on("request", listen(false));
  server.on("checkContinue", listen(true));
  // Other expectations are ignored, as on Deno and Bun (RFC 9110 §10.1.1 allows it); Node would
  // answer 417.
  server.on("checkExpectation", listen(false));
  server.on("connect", (_req, socket: Socket) => refuse(socket, noTunnel));
  server.on("clientError", clientErrorListener());
  return server;
}

/** The `close` of {@linkcode Server} for a server that has no connections yet. */
function closer(server: HttpServer): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () =>
    new Promise((resolve) => {
      // Not http.Server's close(): on Node 26 it destroys connections whose answer is not fully
      // sent, and stops timing out slow clients (`httpServerPreClose` in its lib/_http_server.js).
      // Earlier versions kept connections that never sent a byte (nodejs/node#63470). Can go if
      // tests/adapters/http/fetch_server_test.ts passes with it.
      NetServer.prototype.close.call(server, () => {
        server.close();
        resolve();
      });
      for (const socket of sockets) {
        const current = currentResponse(socket);
        if (current === undefined) socket.destroy();
        else current.once("close", () => socket.destroySoon());
      }
    });
}
