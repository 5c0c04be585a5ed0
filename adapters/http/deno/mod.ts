/**
 * Serves what `createHandler` returns with `Deno.serve`.
 *
 * @module
 */

import {
  type Handler,
  report,
  respond,
  shuttingDown,
  toResponse,
} from "../../../core/kit.ts";
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

/** Pause before a server that stopped listening is restarted, in ms. */
const RESTART_INTERVAL = 100;
/** Stops closer together than this are reported once, in ms. */
const ONE_EVENT = 10_000;
/**
 * How many servers that stopped listening are kept. Older ones close their connections when idle.
 */
const MAX_STOPPED = 64;

/**
 * Listens, and answers every request with the service.
 *
 * @example Serve
 * ```ts
 * import { serve } from "@petstore/service/deno";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const keys = apiKeys(["secret"]);
 * const handle = createHandler({ storage: memoryStorage(), keys });
 * const server = await serve(handle, { port: 0 });
 * await server.close();
 * ```
 *
 * @param handle what `createHandler` returns. `Deno.serve` takes other fetch functions.
 * @param options where to listen.
 * @returns the server, once it listens. Rejects if it cannot, for example because the port is in
 * use.
 */
export async function serve(
  handle: Handler,
  options: ServeOptions = {},
): Promise<Server> {
  checkHandler(handle, "serve", "Pass other fetch functions to Deno.serve");
  const { port, hostname, onError } = readServeOptions(options);
  checkRuntimeIs("Deno");
  // The number of unanswered requests that may have a body: `shutdown()` would cut the body off
  // (seen in Deno 2.9; denoland/deno#36809). Can go if tests/adapters/http/deno/mod_test.ts passes
  // without it. A counter, because `finally()` on each answer made a create take 1.07 times as much
  // processor time.
  let uploads = 0;
  const { promise: noUploads, resolve } = Promise.withResolvers<void>();
  const ended = (): void => {
    if (--uploads === 0 && isClosed) resolve();
  };
  let isClosed = false;

  /** The listening server, then those that stopped, which still answer their open connections. */
  const servers: Deno.HttpServer<Deno.NetAddr>[] = [];
  let stopped = -Infinity;

  function start(port: number): Deno.NetAddr {
    const server = Deno.serve({
      port,
      hostname,
      // Otherwise Deno prints the address, which is up to the caller.
      onListen: () => {},
      onError: (error) => failed(error, onError),
    }, (request, info) => {
      if (isClosed) return toResponse(shuttingDown);
      const response = respond(handle.answer, request, info, onError);
      if (request.method === "GET") return response;
      uploads++;
      response.then(ended, ended);
      return response;
    });
    servers.unshift(server);
    for (const old of servers.splice(MAX_STOPPED)) void old.shutdown();
    // When file descriptors run out, Deno 2.9 stops listening for good (denoland/deno#10148).
    // Remove the restart code once tests/lab/faults/descriptors_fault.ts passes without it.
    server.finished.catch((cause: Error) => {
      const isNews = performance.now() - stopped > ONE_EVENT;
      stopped = performance.now();
      if (isNews) {
        const message =
          `Cannot accept connections, trying again: ${cause.message}`;
        report(() => onError(new Error(message, { cause })));
      }
      setTimeout(startAgain, RESTART_INTERVAL);
    });
    return server.addr;
  }

  function startAgain(): void {
    if (isClosed) return;
    try {
      start(addr.port);
    } catch {
      setTimeout(startAgain, RESTART_INTERVAL); // still no descriptor
    }
  }

  let addr: Deno.NetAddr;
  try {
    addr = start(port);
  } catch (cause) {
    throw listenError(hostname, port, cause);
  }

  return listening(addr, async () => {
    isClosed = true;
    if (uploads > 0) await noUploads;
    await Promise.all(servers.map((server) => server.shutdown()));
  });
}
