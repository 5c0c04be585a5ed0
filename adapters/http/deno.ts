/**
 * Serves a fetch function with `Deno.serve`.
 *
 * @module
 */

import { guard } from "./guard.ts";
import { INTERNAL_ERROR, refusalResponse } from "./refusal.ts";
import {
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  type FetchFunction,
  listenError,
  origin,
  type ServeOptions,
  type Server,
} from "./server.ts";

export type { FetchFunction, ServeOptions, Server } from "./server.ts";

/**
 * Listens, and answers every request with a fetch function.
 *
 * @returns fulfilled once it listens; rejected where it cannot, as where the port is taken.
 */
export function serve(
  handle: FetchFunction,
  options: ServeOptions = {},
): Promise<Server> {
  const {
    port = DEFAULT_PORT,
    hostname = DEFAULT_HOSTNAME,
    onError = console.error,
  } = options;
  return new Promise((resolve, reject) => {
    try {
      const server = Deno.serve({
        port,
        hostname,
        // Deno would print the address; who calls may say what it likes.
        onListen: () => {},
        // guard() lets nothing come here; the runtime's own answer would tell too much.
        onError: () => refusalResponse(INTERNAL_ERROR),
      }, guard(handle, onError));
      const { addr } = server;
      let closed: Promise<void> | undefined;
      resolve({
        hostname: addr.hostname,
        port: addr.port,
        url: origin(addr.hostname, addr.port),
        close: () => closed ??= server.shutdown(),
      });
    } catch (cause) {
      reject(listenError(hostname, port, cause));
    }
  });
}
