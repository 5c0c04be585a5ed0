/**
 * fast-check, with its seed and its number of runs from one place: `deno task laws --runs N --seed N`,
 * which sets `LAWS_RUNS` and `LAWS_SEED`. Without them a property has its usual number of runs.
 */

import fc from "fast-check";
import process from "node:process";

const given = Number(process.env.LAWS_RUNS || NaN);
const seed = Number(process.env.LAWS_SEED || NaN);

fc.configureGlobal({ ...(Number.isNaN(seed) ? {} : { seed }), ...runs(100) });

export { fc };

/** The parameters of a property that usually runs so often. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Number.isNaN(given) ? usual : given };
}

/** The time limit, in ms, of a property that takes less than three minutes if it runs so often, on a busy machine too. */
export function patience(usual: number): number {
  return 180_000 * Math.max(1, runs(usual).numRuns / usual);
}
