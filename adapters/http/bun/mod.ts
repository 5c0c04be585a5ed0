/**
 * Serves what `createHandler` returns with `Bun.serve`.
 *
 * @module
 */

import { checkIntegers, type Handler, respond } from "../../../core/kit.ts";
import {
  checkHandler,
  checkRuntimeIs,
  failed,
  listenError,
  listening,
  readServeOptions,
  type ServeOptions,
  type Server,
} from "../server.ts";

export type { Handler } from "../../../core/kit.ts";
export type { ServeOptions, Server } from "../server.ts";

/** The part of Bun's server that is used, because other type checkers lack its types. */
interface BunServer extends Pick<Server, "hostname" | "port"> {
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** How often a closing server checks for open requests, in ms. */
const CLOSING_INTERVAL = 10;

/** Settings of {@linkcode serve} on Bun. */
export interface BunServeOptions extends ServeOptions {
  /**
   * Maximum size of a request body in bytes, at least 1. Bun answers a larger one with `413`,
   * without a body. Default: 1048576 (1 MiB), because Bun reads up to this much of a body that the
   * service leaves unread. Bun's own default is 128 MiB.
   */
  readonly maxRequestBodySize?: number;
}

/**
 * Listens, and answers every request with the service.
 *
 * @example Serve
 * ```ts
 * import { serve } from "@petstore/service/bun";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const keys = apiKeys(["secret"]);
 * const handle = createHandler({ storage: memoryStorage(), keys });
 * if ("Bun" in globalThis) await serve(handle, { port: 8000 });
 * ```
 *
 * @param handle what `createHandler` returns. `Bun.serve` takes other fetch functions.
 * @param options where to listen, and how large a body may be.
 * @returns the server, once it listens. Rejects if it cannot, for example because the port is in
 * use.
 */
export async function serve(
  handle: Handler,
  options: BunServeOptions = {},
): Promise<Server> {
  checkHandler(handle, "serve", "Pass other fetch functions to Bun.serve");
  const { port, hostname, onError } = readServeOptions(
    options,
    "maxRequestBodySize",
  );
  const { maxRequestBodySize = 1_048_576 } = options;
  checkIntegers({ maxRequestBodySize }, 1);
  checkRuntimeIs("Bun");
  const { Bun } = globalThis as unknown as {
    readonly Bun: { serve(options: object): BunServer };
  };
  try {
    const server = Bun.serve({
      port,
      hostname,
      // In seconds. With its default of 10, Bun closes a connection whose answer has not begun by
      // then (its document Server, idleTimeout; oven-sh/bun#13712).
      idleTimeout: 30,
      maxRequestBodySize,
      // In development, the default unless NODE_ENV is production, Bun shows errors to the client
      // as an HTML page (its document Error handling).
      development: false,
      // Outside development mode Bun 1.4 would share a port that is in use, and receive its clients
      // (oven-sh/bun#1443). Can go if tests/adapters/http/fetch_server_test.ts passes on Bun
      // without it.
      reusePort: false,
      fetch: (request: Request, server: BunServer) =>
        respond(handle.answer, request, server, onError),
      error: (error: unknown) => failed(error, onError),
    });
    return listening(server, () => closeBunServer(server));
  } catch (cause) {
    throw listenError(hostname, port, cause);
  }
}

/**
 * Stops listening; resolves once every request is answered in full. Bun's `stop()` alone waits for
 * ever for clients that have sent half a request (seen in Bun 1.4.5; intended, says
 * oven-sh/bun#37074). `stop(true)` alone would cut off answers. Can go if
 * tests/adapters/http/fetch_server_test.ts passes on Bun with `stop()` alone.
 */
async function closeBunServer(server: BunServer): Promise<void> {
  const stopped = server.stop();
  while (server.pendingRequests > 0) {
    await new Promise((resolve) => setTimeout(resolve, CLOSING_INTERVAL));
  }
  await server.stop(true);
  await stopped;
}
