/**
 * What a measurement leaves where it is broken off: nothing.
 *
 * @module
 */

import process from "node:process";

/** Ends this process at a signal that asks for it, after `end`; the handlers of `exit` run too. */
export function endOnSignal(end: () => void): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      end();
      process.exit(130);
    });
  }
}
