/**
 * The life of a server, however it listens (`start.ts`, `serve.ts`): it opens the service of
 * `service.ts`, greets, and shuts down in order.
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { Service } from "../../core/http/message.ts";
import type { Config } from "./config.ts";
import { type OpenService, openService } from "./service.ts";
import { stopOnSignal } from "./shutdown.ts";

/** How long to wait at shutdown for a storage that is still opening, in ms. */
const OPENING_TIME = 1000;

/** How a server ends, which differs between `start.ts` and `serve.ts`. */
export interface Ending {
  /** Stops listening. Resolves once all responses are sent; `drained` does once all are made. */
  stopListening(drained: Promise<void>): Promise<void>;
  /** Called once the storage is closed, as the last step. */
  awaitOthers?(): Promise<void>;
}

/**
 * Makes a server that does not listen yet, and that ends on a signal.
 *
 * @param ending says how the caller stops listening.
 * @throws {Error} if nobody could ever get a key.
 */
export function createServer(
  config: Config,
  { stopListening, awaitOthers }: Ending,
) {
  const isTerminal = process.stderr.isTTY === true;
  const { database, fixedKeys } = config;
  if (database.kind === "memory" && fixedKeys === undefined && !isTerminal) {
    throw new Error(
      "Cannot start: with memory: issued keys are lost when the server ends, and the first one is shown only on a terminal. Set PETSTORE_API_KEYS",
    );
  }
  /** Resolves once the service is open; never settles if that fails. */
  const opening = Promise.withResolvers<OpenService>();
  /** Unset until the service is open; a signal may come earlier. */
  let service: OpenService | undefined;

  const shutdown = stopOnSignal({
    async announce() {
      // Without a delay it drains at once: `deno serve` cuts bodies short as soon as the signal
      // comes, and only while it drains are these answered with 503.
      if (service === undefined || config.shutdownDelay === 0) return;
      service.leave();
      await delay(config.shutdownDelay);
    },
    async finish() {
      // A storage that is still opening must be closed too, or SQLite's log stays. PostgreSQL may
      // take longer than this waits.
      await Promise.race([opening.promise, delay(OPENING_TIME)]);
      if (service !== undefined) await stopListening(service.drain());
    },
    async close() {
      await service?.close();
      await awaitOthers?.();
    },
    timeout: config.shutdownTimeout,
  });

  /** Makes a part of the service, whose requests wait until it is open. */
  function onceOpen(part: "answer" | "admin"): Service {
    return (...call) =>
      service?.[part](...call) ??
        opening.promise.then((opened) => opened[part](...call));
  }

  return {
    /** Answers requests. */
    answer: onceOpen("answer"),
    /** Answers only requests for the probes and metrics. */
    admin: onceOpen("admin"),
    /** Does what the first signal does; may be called more than once. */
    stop: shutdown.stop,
    /**
     * Opens the service. Rejects if that fails, unless the server was told to stop and so ends
     * anyway: then it returns false.
     */
    async open(): Promise<boolean> {
      try {
        service = await openService(config, { isTerminal });
        opening.resolve(service);
        await service.openDocs(); // before the permission to read its files is given back
        return true;
      } catch (cause) {
        if (shutdown.isStopping) return false;
        throw cause;
      }
    },
    /**
     * Tells people where it listens, once the service is open. Call it at most once, because it may
     * issue the first key.
     */
    async greet(
      address: { readonly hostname: string; readonly port: number },
    ): Promise<void> {
      const { greet } = await opening.promise;
      if (!shutdown.isStopping) await greet(address);
    },
  };
}
