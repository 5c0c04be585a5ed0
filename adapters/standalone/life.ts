/**
 * The life of a server (`start.ts`, `serve.ts`) as one stack: whatever it opens is pushed, and a
 * signal closes it, last first.
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { failureText } from "../program/command_line.ts";
import { flushOutput, standardError } from "./output.ts";
import { onStopSignal } from "./signals.ts";

/** How long the end waits for a part that is still opening, in ms. */
const OPENING_TIME = 1000;
/**
 * For how long after the first signal others are ignored, in ms. On Ctrl-C the terminal signals npx
 * and the server, and npx passes its signal on; `timeout` signals a process and then its group.
 */
const REPEAT_TIME = 500;

/** What a server can do with its life. */
export interface Life {
  /**
   * Waits until a part is open. It is closed at the end, before all that was opened earlier. Never
   * settles once the server is ending, so that nothing more is opened.
   */
  open<T>(opening: Promise<T>, close: (part: T) => unknown): Promise<T>;
  /** Calls `close` at the end in the same order, with the signal if there was one. */
  atEnd(close: (signal?: string) => unknown): void;
  /** Reports what went wrong, and ends the server in order, with the exit code 1. */
  fail(cause: unknown): void;
}

/**
 * Begins a server. The first SIGTERM, SIGINT or SIGHUP ends it in order, and the process with 0;
 * another, after `REPEAT_TIME`, ends the process at once with 1. If a part cannot be opened or
 * closed, the others are still closed, and the exit code is 1.
 *
 * @returns what `begin` does; never settles if that fails.
 */
export async function live<T>(begin: (life: Life) => Promise<T>): Promise<T> {
  /** The last one first. */
  const closes: ((signal?: string) => unknown)[] = [];
  let isEnding = false;
  let exitCode = 0;
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
    void end(signal);
  });

  function report(cause: unknown): void {
    exitCode = 1;
    standardError.write(failureText(cause));
  }

  async function end(signal?: string): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    for (const close of closes) {
      try {
        await close(signal);
      } catch (cause) {
        report(cause);
      }
    }
    await flushOutput();
    process.exit(exitCode);
  }

  const life: Life = {
    async open(opening, close) {
      // Pushed before it is open: a signal may come meanwhile. PostgreSQL may take longer to open
      // than the end waits.
      life.atEnd(async () => {
        const opened = opening.then((part) => () => close(part), () => {});
        await (await Promise.race([opened, delay(OPENING_TIME)]))?.();
      });
      const part = await opening;
      return isEnding ? await new Promise(() => {}) : part;
    },
    atEnd: (close) => void closes.unshift(close),
    fail(cause) {
      report(cause);
      void end();
    },
  };

  try {
    return await begin(life);
  } catch (cause) {
    // If the server is ending anyway, nobody needs what could not be opened.
    if (!isEnding) life.fail(cause);
    return await new Promise(() => {});
  }
}

/**
 * Waits until the requests in flight are answered and sent. After `timeout` ms it says that some
 * are not, and gives up.
 */
export async function finish(
  requests: Promise<unknown>,
  timeout: number,
): Promise<void> {
  if (await Promise.race([requests, delay(timeout, "late")]) !== "late") return;
  standardError.write(`Some requests did not finish within ${timeout} ms\n`);
}
