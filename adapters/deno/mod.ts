/**
 * Serves a fetch function with `Deno.serve`.
 *
 * @module
 */

import { internalError, shuttingDown } from "../../core/http/refusal.ts";
import { guard, refuse } from "../serve/guard.ts";
import {
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  type FetchFunction,
  listenError,
  origin,
  type ServeOptions,
  type Server,
} from "../serve/server.ts";

export type { FetchFunction, ServeOptions, Server } from "../serve/server.ts";

/**
 * Listens, and answers every request with a fetch function.
 *
 * @returns fulfilled once it listens; rejected if it cannot, for instance because the port is taken.
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
  const answer = guard(handle, onError);
  const uploads = new Uploads();
  let closed: Promise<void> | undefined;
  return new Promise((resolve, reject) => {
    try {
      const server = Deno.serve({
        port,
        hostname,
        // Deno would print the address, which is for the caller to do.
        onListen: () => {},
        // guard() lets nothing come here, and Deno's own answer would tell too much.
        onError: () => refuse(internalError),
      }, (request, info) => {
        if (closed !== undefined) return refuse(shuttingDown);
        return request.method === "GET"
          ? answer(request, info)
          : uploads.add(answer(request, info));
      });
      const { addr } = server;
      resolve({
        hostname: addr.hostname,
        port: addr.port,
        url: origin(addr.hostname, addr.port),
        close: () =>
          closed ??= uploads.finished().then(() => server.shutdown()),
      });
    } catch (cause) {
      reject(listenError(hostname, port, cause));
    }
  });
}

/**
 * The requests that may have a body and are not answered yet. `shutdown()` takes away what is not read
 * of a body (Deno 2.9), so it is called only when there are none; it waits for the responses itself.
 */
class Uploads {
  #count = 0;
  #onNone: (() => void) | undefined;

  /** Adds a request, until its response is ready. */
  async add(response: Response | Promise<Response>): Promise<Response> {
    this.#count++;
    try {
      return await response;
    } finally {
      this.#count--;
      if (this.#count === 0) this.#onNone?.();
    }
  }

  /** Fulfilled once there are none. */
  finished(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNone = resolve;
      if (this.#count === 0) resolve();
    });
  }
}
