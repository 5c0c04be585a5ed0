/**
 * Serves a fetch function with `Deno.serve`.
 *
 * @module
 */

import { guard } from "../serve/guard.ts";
import { CLOSING, INTERNAL_ERROR, refusalResponse } from "../serve/refusal.ts";
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
  const answer = guard(handle, onError);
  const uploads = new Uploads();
  let closed: Promise<void> | undefined;
  return new Promise((resolve, reject) => {
    try {
      const server = Deno.serve({
        port,
        hostname,
        // Deno would print the address; who calls may say what it likes.
        onListen: () => {},
        // guard() lets nothing come here; the runtime's own answer would tell too much.
        onError: () => refusalResponse(INTERNAL_ERROR),
      }, (request, info) => {
        if (closed !== undefined) return refusalResponse(CLOSING);
        // Not `request.body`: to make a stream of it costs as much as to read it.
        if (request.method !== "GET") uploads.add(info.completed);
        return answer(request);
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
 * The requests in flight that may have a body. `shutdown()` takes away what is not read of one yet (Deno
 * 2.9), so it is called only when there are none; it waits for all the others itself.
 */
class Uploads {
  #count = 0;
  #onNone: (() => void) | undefined;

  /** Adds a request, until its response is sent or its client is gone. */
  add(completed: Promise<void>): void {
    this.#count++;
    const done = () => {
      this.#count--;
      if (this.#count === 0) this.#onNone?.();
    };
    completed.then(done, done);
  }

  /** Fulfilled once there are none. */
  finished(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNone = resolve;
      if (this.#count === 0) resolve();
    });
  }
}
