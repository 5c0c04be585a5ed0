/**
 * The part `paths` of the bench: each fast path of the service beside the plain one that does the same.
 *
 * @module
 */

import { findRuntimes } from "./http/runtimes.ts";
import { inRuntime, titleOf } from "./in_runtime.ts";
import type { BenchOptions } from "./options.ts";
import type { Table } from "./table.ts";
import type { PathsTask } from "./paths/fast_paths.ts";

const LIMIT = 300; // seconds

/** Measures the fast paths on every runtime. */
export async function run(options: BenchOptions): Promise<readonly Table[]> {
  const { rounds, seconds } = options;
  const tables: Table[] = [];
  for (const runtime of findRuntimes(options.runtimes)) {
    console.error(`Fast paths on ${runtime.name}`);
    const task: PathsTask = { rounds, seconds };
    const program = new URL("paths/fast_paths.ts", import.meta.url);
    const rows = await inRuntime(runtime, program, { task, seconds: LIMIT });
    tables.push({
      title: `Fast paths on ${titleOf(runtime)}, in the process`,
      columns: ["work", "plain µs", "fast µs", "gain", "middle half"],
      rows: rows as Table["rows"],
      notes: [
        "Medians; gain: plain to fast in the same round; middle half: of the gains.",
      ],
    });
  }
  return tables;
}
