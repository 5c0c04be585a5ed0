/**
 * Skipping tests so that it is heard.
 *
 * @module
 */

/** Writes why tests are skipped, and returns it, for `skip`: Deno and Bun would not show the reason. */
export function aloud(reason: string | false): string | false {
  if (reason !== false) console.warn(`Skipping tests: ${reason}`);
  return reason;
}
