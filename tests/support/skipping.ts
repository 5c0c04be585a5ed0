/** Skipping tests so that everybody learns what is missing. */

import { appendFileSync } from "node:fs";
import process from "node:process";

/**
 * Notes what is missing on this machine, so that tests are skipped, and returns it, for `skip` of
 * `node:test`. `tests/run.ts` prints what is in the file that `TEST_SKIPPED` names. What is for another
 * runtime is skipped without a note.
 */
export function skipping(reason: string | false): string | false {
  if (reason === false) return false;
  const file = process.env.TEST_SKIPPED;
  if (file === undefined) console.warn(`Skipping tests: ${reason}`);
  else appendFileSync(file, `${process.argv[1]}\t${reason}\n`); // on Bun, the first file
  return reason;
}
