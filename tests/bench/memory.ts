/**
 * The part `memory` of the bench: what a pet takes in `memoryStorage`, and whether a read takes as long
 * among a million pets as among a thousand.
 *
 * @module
 */

import type { BenchOptions } from "./options.ts";
import { runProgram } from "./process.ts";
import { findRuntimes } from "./runtimes.ts";
import type { Table } from "./table.ts";

/** Fills a storage of each size in a process of its own. */
export async function* run(
  { runtimes, quick }: BenchOptions,
): AsyncIterable<Table> {
  const sizes = quick ? [1e3, 1e4] : [1e3, 1e4, 1e5, 1e6];
  const file = new URL("contestants/in_process/memory.ts", import.meta.url);
  for (const runtime of findRuntimes(runtimes)) {
    console.error(`${runtime.title}, memory`);
    const rows: (readonly string[])[] = [];
    for (const pets of sizes) {
      rows.push(await runProgram(runtime, file, pets) as readonly string[]);
    }
    yield {
      title: `memoryStorage on ${runtime.title}`,
      columns: ["pets", "bytes each", "get µs", "list20 µs", "list20 sold µs"],
      rows,
      note:
        "Bytes of the resident set after a collection, each pet listed once; they mean something from 100,000 pets on.",
    };
  }
}
