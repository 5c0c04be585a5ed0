/**
 * The part `paths` of the bench: each fast path beside its plain sibling, in one process, by mitata.
 *
 * @module
 */

import type { BenchOptions } from "./options.ts";
import { runProgram } from "./process.ts";
import { findRuntimes } from "./runtimes.ts";
import type { Table } from "./table.ts";

/** Measures the fast paths on every runtime. */
export async function* run(
  { runtimes, rounds, seconds }: BenchOptions,
): AsyncIterable<Table> {
  const file = new URL("contestants/in_process/paths.ts", import.meta.url);
  const task = { rounds, seconds: seconds / 5 };
  for (const runtime of findRuntimes(runtimes)) {
    console.error(`${runtime.title}, fast paths`);
    yield {
      title: `Fast paths on ${runtime.title}, in the process`,
      columns: ["", "at once", "plain µs", "fast µs", "gain", "min..max"],
      rows: await runProgram(runtime, file, task) as Table["rows"],
    };
  }
}
