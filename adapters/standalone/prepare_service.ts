/**
 * The life of a service, however it is served (`start.ts`, `serve.ts`): it opens, greets, and ends
 * in order on a signal.
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { Service } from "../../core/http/message.ts";
import { reportAndExit } from "./command_line.ts";
import type { Config } from "./config.ts";
import { greet } from "./greet.ts";
import { flushOutput, standardError } from "./output.ts";
import { type OpenService, openService } from "./service.ts";
import { onStopSignal } from "./signals.ts";

/** How long to wait at shutdown for a storage that is still opening, in ms. */
const OPENING_TIME = 1000;
/**
 * For how long after the first signal others are ignored, in ms. On Ctrl-C the terminal signals npx
 * and the server, and npx passes its signal on; `timeout` signals a process and then its group.
 */
const REPEAT_TIME = 500;

/** How serving ends, which differs between `start.ts` and `serve.ts`. */
export interface Ending {
  /** Ends serving. Resolves once all responses are sent; `drained` does once all are made. */
  endServing(drained: Promise<void>): Promise<void>;
  /** Called after the storage is closed and all output is written, as the last step. */
  awaitOthers?(): Promise<void>;
}

/**
 * Prepares a service, whose requests wait until it is open. From now on the first SIGTERM, SIGINT
 * or SIGHUP ends the process in order and with 0, and another after `REPEAT_TIME` at once with 1.
 *
 * @throws {Error} if nobody could ever get a key.
 */
export function prepareService(
  config: Config,
  { endServing, awaitOthers }: Ending,
) {
  const isTerminal = process.stderr.isTTY === true;
  const { database, fixedKeys, shutdownDelay, shutdownTimeout } = config;
  if (database.kind === "memory" && fixedKeys === undefined && !isTerminal) {
    throw new Error(
      "Cannot start without PETSTORE_API_KEYS: in memory, issued keys are lost when the server ends, and the first one is shown only on a terminal",
    );
  }
  /** Resolves once the service is open; never settles if that fails. */
  const opening = Promise.withResolvers<OpenService>();
  /** Unset until the service is open; a signal may come earlier. */
  let opened: OpenService | undefined;
  let isStopping = false;
  /** Not `isStopping`: another worker may have left before this one receives its first signal. */
  let firstSignal: number | undefined;

  onStopSignal((signal) => {
    const now = performance.now();
    if (firstSignal !== undefined) {
      if (now - firstSignal < REPEAT_TIME) return;
      process.exit(1);
    }
    firstSignal = now;
    standardError.write(
      `${signal}: finishing the requests in flight; send it again to exit at once\n`,
    );
    stop(signal);
  });

  /** Ends the process in order; may be called more than once. */
  function stop(signal?: string): void {
    if (isStopping) return;
    isStopping = true;
    end(signal).catch(reportAndExit);
  }

  async function end(signal?: string): Promise<void> {
    // Load balancers need time to notice; people at a terminal do not. Without a delay there must
    // be no pause at all: `deno serve` cuts bodies short when the signal comes, and such requests
    // are answered with 503 only if the service already drains.
    if (signal !== "SIGINT" && opened !== undefined && shutdownDelay > 0) {
      opened.leave();
      await delay(shutdownDelay);
    }
    try {
      const late = delay(shutdownTimeout, "late");
      if (await Promise.race([finish(), late]) === "late") {
        standardError.write(
          `Some requests did not finish within ${shutdownTimeout} ms\n`,
        );
      }
    } finally {
      await opened?.close();
      await flushOutput(); // before the others may end the process
      await awaitOthers?.();
    }
    process.exit(0);
  }

  /** Ends serving, and waits for the requests in flight. */
  async function finish(): Promise<void> {
    // A storage that is still opening must be closed too, or SQLite's log stays. PostgreSQL may
    // take longer than this waits.
    await Promise.race([opening.promise, delay(OPENING_TIME)]);
    if (opened !== undefined) await endServing(opened.drain());
  }

  /** Makes a part of the service, whose requests wait until it is open. */
  function onceOpen(part: "answer" | "admin"): Service {
    return (...call) =>
      opened?.[part](...call) ??
        opening.promise.then((service) => service[part](...call));
  }

  return {
    /** Answers requests. */
    answer: onceOpen("answer"),
    /** Answers on the admin port: the probes and metrics. */
    admin: onceOpen("admin"),
    stop,
    /**
     * Opens the service. Rejects if that fails, unless it was told to stop and the process ends
     * anyway: then it returns false.
     */
    async open(): Promise<boolean> {
      try {
        opened = await openService(config);
        opening.resolve(opened);
        await opened.pageProblem; // before the permission to read its files is given back
        return true;
      } catch (cause) {
        if (isStopping) return false;
        throw cause;
      }
    },
    /** Tells people where it listens, once it is open, as `greet` does. */
    async greet(address: Parameters<typeof greet>[0]): Promise<void> {
      const service = await opening.promise;
      if (!isStopping) await greet(address, { ...service, isTerminal });
    },
  };
}
