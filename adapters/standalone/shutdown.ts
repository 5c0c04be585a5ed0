/** The end of the standalone server. */

import process from "node:process";
import { reportAndExit } from "./command_line.ts";

/**
 * On the first SIGTERM or SIGINT finishes, closes and exits with 0; if finishing takes too long, closes
 * without it. On the second signal exits at once with 1.
 *
 * @returns a function that does what the first signal does; it may be called more than once.
 */
export function stopOnSignal(ending: {
  /** Takes no more requests, and waits for those in flight. */
  finish(): Promise<void>;
  close(): Promise<void>;
  /** How long `finish` may take, in ms. */
  readonly timeout: number;
}): () => void {
  const { timeout } = ending;
  let isStopping = false;

  async function end(): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    const late = new Promise((resolve) => setTimeout(resolve, timeout, "late"));
    try {
      if (await Promise.race([ending.finish(), late]) === "late") {
        process.stderr.write(
          `Some requests did not finish within ${timeout} ms\n`,
        );
      }
    } finally {
      await ending.close();
    }
    process.exit(0);
  }

  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      process.stderr.write(
        `${signal}: finishing the requests in flight; signal again to end at once\n`,
      );
      end().catch(reportAndExit);
    });
  }
  return () => void end().catch(reportAndExit);
}
