/**
 * The part `http` of the bench: server processes over loopback, ours beside others.
 *
 * @module
 */

import type { BenchOptions } from "./options.ts";
import type { Table } from "./table.ts";

/** Measures every contestant. */
export async function run(_options: BenchOptions): Promise<readonly Table[]> {
  return [];
}
