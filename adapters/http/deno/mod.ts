/**
 * Serves a fetch function with `Deno.serve`.
 *
 * @module
 */

import { toResponse } from "../../../core/http/message.ts";
import { shuttingDown } from "../../../core/http/refusal.ts";
import { report } from "../../../core/report.ts";
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

/** Pause before a server that stopped listening tries again, in ms. */
const RESTART_INTERVAL = 100;
/** Stops closer together than this are reported once, in ms. */
const ONE_EVENT = 10_000;
/**
 * The most servers that stopped listening and are kept; connections of older ones are closed when
 * idle.
 */
const MAX_STOPPED = 64;

/**
 * Listens, and answers every request with a fetch function.
 *
 * @example Serve
 * ```ts
 * import { serve } from "@petstore/service/deno";
 *
 * const server = await serve(() => new Response("Hello"), { port: 0 });
 * await server.close();
 * ```
 *
 * @param handle any fetch function, such as `createHandler` returns.
 * @param options where to listen.
 * @returns fulfilled once it listens; rejected if it cannot, for instance because the port is
 * taken.
 */
export async function serve(
  handle: FetchFunction,
  options: ServeOptions = {},
): Promise<Server> {
  checkHandle(handle);
  const { port, hostname, onError } = readServeOptions(options);
  const answer = guard(handle, onError);
  // Requests with a body: until they are answered, `shutdown()` would take the body away (seen in
  // Deno 2.9; denoland/deno#36809). Can go if tests/adapters/http/deno/mod_test.ts passes without
  // it. They are counted, because `finally()` on each answer made a create take 1.07 times its
  // processor time.
  let uploads = 0;
  const { promise: noUploads, resolve } = Promise.withResolvers<void>();
  const ended = (): void => {
    if (--uploads === 0 && isClosed) resolve();
  };
  let isClosed = false;

  /** The server that listens, then those that stopped: they still answer their open connections. */
  const servers: Deno.HttpServer<Deno.NetAddr>[] = [];
  let stopped = -Infinity;

  function start(port: number): Deno.NetAddr {
    const server = Deno.serve({
      port,
      hostname,
      // Deno would print the address, which is for the caller to do.
      onListen: () => {},
      // For a response that cannot be sent, such as one already read.
      onError: (error) => failed(error, onError),
    }, (request, info) => {
      if (isClosed) return toResponse(shuttingDown);
      const response = answer(request, info);
      if (request.method === "GET") return response;
      uploads++;
      Promise.resolve(response).then(ended, ended);
      return response;
    });
    servers.unshift(server);
    for (const old of servers.splice(MAX_STOPPED)) void old.shutdown();
    // Out of file descriptors, Deno 2.9 stops listening for good (denoland/deno#10148). Remove the
    // restart code once tests/lab/faults/descriptors_fault.ts passes without it.
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
      setTimeout(startAgain, RESTART_INTERVAL); // no descriptor for this either
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
