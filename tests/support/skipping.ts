/** Skipping tests so that everybody learns why. */

import { appendFileSync } from "node:fs";
import process from "node:process";

/**
 * Notes why tests are skipped, and returns it, for `skip` of `node:test`: Deno and Bun do not show the
 * reason. `tests/run.ts` prints what is in the file that `TEST_SKIPPED` names.
 */
export function skipping(reason: string | false): string | false {
  if (reason === false) return false;
  const file = process.env.TEST_SKIPPED;
  if (file === undefined) console.warn(`Skipping tests: ${reason}`);
  else appendFileSync(file, `${reason}\n`);
  return reason;
}
