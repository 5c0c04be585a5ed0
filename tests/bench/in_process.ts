/**
 * The parts of the bench that measure in the process of each runtime, by mitata: the storages beside bare
 * loops of their drivers.
 */

import { startCluster } from "../support/postgres/cluster.ts";
import type { BenchOptions } from "./options.ts";
import { startProcess, temporaryFolder } from "./process.ts";
import { findRuntime, type Runtime } from "./runtimes.ts";
import type { Table } from "./table.ts";

const COLUMNS = "|at once|plain µs|ours µs|plain/ours|min..max".split("|");

/** Runs a program of the folder `in_process`. */
async function measured(
  runtime: Runtime,
  name: string,
  task: object,
  { rounds, seconds }: BenchOptions,
): Promise<Table> {
  const title = `${runtime.title}, ${name} in the process`;
  console.error(title);
  const path = `contestants/in_process/${name}.ts`;
  const program = startProcess(runtime, new URL(path, import.meta.url));
  // Figures settle sooner here than over HTTP.
  const rows = await program.ask({ ...task, rounds, seconds: seconds / 5 })
    .finally(() => program.stop());
  return { title, columns: COLUMNS, rows: rows as Table["rows"] };
}

/** Measures the storages on every runtime. */
export async function* storage(options: BenchOptions): AsyncIterable<Table> {
  const folder = temporaryFolder();
  const cluster = await startCluster();
  for (const runtime of options.runtimes.map(findRuntime)) {
    const url = await cluster.newDatabase();
    const task = { path: `${folder}/${runtime.name}`, url };
    yield await measured(runtime, "storages", task, options);
  }
  await cluster.close(); // it ends with the bench at the latest
}
