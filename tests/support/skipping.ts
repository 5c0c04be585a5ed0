/** Skipping tests so that everybody learns what is missing. */

import { appendFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";

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

/** `test` of `node:test`; `test.skip` if there is a reason, such as what {@linkcode skipping} returns. */
export function testUnless(reason: string | false): typeof test.skip {
  return reason === false ? test : test.skip;
}
