/**
 * The end of the standalone server.
 *
 * @module
 */

import process from "node:process";

/**
 * On the first SIGTERM or SIGINT calls `stop` and exits with 0 when it is done, or when `timeout` ms
 * are over; on the second exits at once with 1.
 *
 * @returns does what the first signal does, where none came yet.
 */
export function stopOnSignal(
  stop: () => Promise<void>,
  timeout: number,
): () => void {
  let isStopping = false;

  async function end(): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    const timer = setTimeout(() => {
      process.stderr.write(
        `Some requests did not finish within ${timeout} ms\n`,
      );
      process.exit(0);
    }, timeout);
    await stop();
    clearTimeout(timer);
    process.exit(0);
  }

  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      process.stderr.write(
        `${signal}: finishing the requests in flight; once more to end at once\n`,
      );
      void end();
    });
  }
  return () => void end();
}
