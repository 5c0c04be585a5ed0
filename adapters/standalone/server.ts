/**
 * The life of a server, however it listens (`start.ts`, `serve.ts`): it opens the service of
 * `service.ts`, greets, and ends in order.
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { Service } from "../../core/http/message.ts";
import { type Config, ConfigError } from "./config.ts";
import { type OpenService, openService } from "./service.ts";
import { stopOnSignal } from "./shutdown.ts";

/** Time to wait at shutdown for a storage that is still being opened, in ms. */
const OPENING_TIME = 1000;

/** What differs in how servers end. */
export interface Ending {
  /** Stops listening. Fulfilled once all responses are sent; `drained` is, once all are made. */
  finish(drained: Promise<void>): Promise<void>;
  /** Called once the storage is closed, as the last step. */
  leave?(): Promise<void>;
}

/**
 * Makes a server that listens nowhere yet, and ends on a signal.
 *
 * @param ending says how the caller stops listening.
 * @throws {ConfigError} if no request could ever have a key.
 */
export function createServer(config: Config, { finish, leave }: Ending) {
  const isTerminal = process.stderr.isTTY === true;
  const { database, fixedKeys } = config;
  if (database.kind === "memory" && fixedKeys === undefined && !isTerminal) {
    throw new ConfigError(
      "Cannot start: keys of memory: end with the server, and its first key is shown only on a terminal. Set PETSTORE_API_KEYS",
    );
  }
  const opening = Promise.withResolvers<OpenService>();
  /** Unset until the service is open: a signal may come before. */
  let service: OpenService | undefined;

  const shutdown = stopOnSignal({
    async announce() {
      // At once without a delay: `deno serve` cuts bodies short as soon as the signal comes.
      if (service === undefined || config.shutdownDelay === 0) return;
      service.leave();
      await delay(config.shutdownDelay);
    },
    async finish() {
      // A storage that is still opening is closed too, or SQLite's log stays. PostgreSQL may take
      // longer than this waits.
      await Promise.race([opening.promise, delay(OPENING_TIME)]);
      if (service !== undefined) await finish(service.drain());
    },
    async close() {
      await service?.close();
      await leave?.();
    },
    timeout: config.shutdownTimeout,
  });

  /** Makes a part of the service, for which requests wait until it is open. */
  function onceOpen(part: "answer" | "admin"): Service {
    return (...call) =>
      service?.[part](...call) ??
        opening.promise.then((opened) => opened[part](...call));
  }

  return {
    /** Answers requests. */
    answer: onceOpen("answer"),
    /** Answers requests for the probes and metrics alone. */
    admin: onceOpen("admin"),
    /** Does what the first signal does; may be called more than once. */
    stop: shutdown.stop,
    /**
     * Opens the service. Rejected if that fails, unless the server was told to stop: then it ends
     * anyway.
     */
    async open(): Promise<void> {
      try {
        service = await openService(config, { isTerminal });
        opening.resolve(service);
        await service.openDocs();
      } catch (cause) {
        if (!shutdown.isStopping) throw cause;
      }
    },
    /**
     * Tells people where it listens, once the service is open. Call it once at most: it may issue
     * the first key.
     */
    async greet(
      address: { readonly hostname: string; readonly port: number },
    ): Promise<void> {
      const { greet } = await opening.promise;
      if (!shutdown.isStopping) await greet(address);
    },
  };
}
