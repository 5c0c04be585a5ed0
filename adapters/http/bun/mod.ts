/**
 * Serves a fetch function with `Bun.serve`.
 *
 * @module
 */

import { checkIntegers } from "../../../core/options.ts";
import { failed, guard } from "../guard.ts";
import {
  checkHandle,
  type FetchFunction,
  listenError,
  listening,
  readServeOptions,
  type ServeOptions,
  type Server,
} from "../server.ts";

export type { FetchFunction, ServeOptions, Server } from "../server.ts";

/** The part of Bun's server that is used, because other type checkers lack its types. */
interface BunServer {
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** Pause between two looks of a closing server at its open requests, in ms. */
const CLOSING_INTERVAL = 10;

/** Settings of {@linkcode serve} on Bun. */
export interface BunServeOptions extends ServeOptions {
  /**
   * The longest request body, in bytes: 1 or more; beyond it Bun answers `413` without a body.
   * Default: 1048576 (1 MiB), since Bun reads up to this much of what a fetch function leaves
   * unread. Its own default is 128 MiB.
   */
  readonly maxRequestBodySize?: number;
}

/**
 * Listens, and answers every request with a fetch function.
 *
 * @example Serve
 * ```ts
 * import { serve } from "@petstore/service/bun";
 *
 * if ("Bun" in globalThis) await serve(() => new Response("Hello"), { port: 8000 });
 * ```
 *
 * @param handle any fetch function, such as `createHandler` returns.
 * @param options where to listen, and how long a body may be.
 * @returns fulfilled once it listens; rejected if it cannot, for instance because the port is
 * taken.
 */
export async function serve(
  handle: FetchFunction,
  options: BunServeOptions = {},
): Promise<Server> {
  checkHandle(handle);
  const { port, hostname, onError } = readServeOptions(
    options,
    "maxRequestBodySize",
  );
  const { maxRequestBodySize = 1_048_576 } = options;
  checkIntegers({ maxRequestBodySize }, 1);
  const { Bun } = globalThis as unknown as {
    readonly Bun: {
      serve(options: object): BunServer & Pick<Server, "hostname" | "port">;
    };
  };
  try {
    const server = Bun.serve({
      port,
      hostname,
      // In seconds. After its default of 10, Bun cuts off an answer that has not begun (its
      // document Server, idleTimeout; oven-sh/bun#13712).
      idleTimeout: 30,
      maxRequestBodySize,
      // In development, the default unless NODE_ENV is production, Bun shows errors to the client
      // as an HTML page (its document Error handling).
      development: false,
      // Outside development mode Bun 1.4 would share a port that is in use, and receive its clients
      // (oven-sh/bun#1443). Can go if tests/adapters/http/fetch_server_test.ts passes on Bun
      // without it.
      reusePort: false,
      fetch: guard(handle, onError),
      // For a response that cannot be sent, such as one already read.
      error: (error: unknown) => failed(error, onError),
    });
    return listening(server, () => closeBunServer(server));
  } catch (cause) {
    throw listenError(hostname, port, cause);
  }
}

/**
 * Stops listening; fulfilled once every request is answered in full. Bun's `stop()` alone waits for
 * clients that have sent half a request, and for ever (seen in Bun 1.4.5; oven-sh/bun#37074 means
 * it to). `stop(true)` alone would cut off answers. Can go if
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
