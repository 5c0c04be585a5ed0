/**
 * The part `sizes` of the bench: whether a read takes as long among ten million animals as among a
 * thousand, and what memory an animal takes.
 *
 * @module
 */

import { join } from "node:path";
import { endOnSignal } from "./end_on_signal.ts";
import { findRuntimes, type Runtime } from "./http/runtimes.ts";
import { endAll } from "./http/server.ts";
import { titleOf } from "./in_runtime.ts";
import { withNewDatabases } from "./new_database.ts";
import { inNewFolder } from "./new_folder.ts";
import type { BenchOptions } from "./options.ts";
import { type Sweep, sweep, type SweepOptions } from "./sizes/sweep.ts";
import type { SizeTask } from "./sizes/turns.ts";
import type { Table } from "./table.ts";

const SIZES = [1e3, 1e4, 1e5, 1e6, 1e7];
const QUICK_SIZES = [1e3, 1e4];
/** Filling a PostgreSQL with ten million takes minutes. */
const POSTGRES_SIZES = [1e3, 1e4, 1e5, 1e6];
/** The most that a read may take at the largest size, beside the smallest. */
const TARGET_GROWTH = 1.3;
/** The most bytes that an animal may take. */
const TARGET_BYTES = { deno: 210, bun: 270, node: 210 } as const;

/** Measures the storages at several sizes. */
export async function run(options: BenchOptions): Promise<readonly Table[]> {
  const { rounds, seconds, quick } = options;
  endOnSignal(endAll);
  const runtimes = findRuntimes(options.runtimes);
  const sizes = quick ? QUICK_SIZES : SIZES;
  const tables: Table[] = [];
  const uses: Row[] = [];
  for (const runtime of runtimes) {
    say("memory", runtime);
    const tasks = sizes.map((animals) => ({
      kind: "memory" as const,
      animals,
    }));
    const found = await sweep(runtime, tasks, { rounds, seconds });
    tables.push(sweepTable("memoryStorage", runtime, sizes, found));
    uses.push(...useRows(runtime, found));
  }
  if (uses.length > 0) tables.push(useTable(uses));
  // On one runtime: what grows, or does not, is the database.
  for (const runtime of runtimes.slice(0, 1)) {
    const postgresSizes = quick ? QUICK_SIZES : POSTGRES_SIZES;
    tables.push(
      await sqliteTable(runtime, sizes, { rounds, seconds }),
      await postgresTable(runtime, postgresSizes, { rounds, seconds }),
    );
  }
  return tables;
}

type Row = Table["rows"][number];

async function sqliteTable(
  runtime: Runtime,
  sizes: readonly number[],
  options: SweepOptions,
): Promise<Table> {
  say("SQLite", runtime);
  return await inNewFolder(async (folder) => {
    const tasks = sizes.map((animals) => ({
      kind: "sqlite" as const,
      animals,
      address: join(folder, `${animals}.db`),
    }));
    const found = await sweep(runtime, tasks, options);
    return sweepTable("sqliteStorage", runtime, sizes, found);
  });
}

async function postgresTable(
  runtime: Runtime,
  sizes: readonly number[],
  options: SweepOptions,
): Promise<Table> {
  say("PostgreSQL", runtime);
  return await withNewDatabases(async (newDatabase) => {
    const tasks: Omit<SizeTask, "turnTime">[] = [];
    for (const animals of sizes) {
      tasks.push({ kind: "postgres", animals, address: await newDatabase() });
    }
    const found = await sweep(runtime, tasks, options);
    return sweepTable("postgresStorage", runtime, sizes, found);
  });
}

function sweepTable(
  storage: string,
  runtime: Runtime,
  sizes: readonly number[],
  { rows }: Sweep,
): Table {
  return {
    title: `${storage} on ${
      titleOf(runtime)
    }: µs for one read, by the number of animals`,
    columns: [
      "work",
      ...sizes.map(scientific),
      "growth",
      "middle half",
      "target",
    ],
    rows: rows.map(({ work, microseconds, growth, spread }) => [
      work,
      ...microseconds,
      growth,
      spread,
      `${TARGET_GROWTH}${growth > TARGET_GROWTH ? " missed" : ""}`,
    ]),
    notes: [
      "Medians; growth: the largest size to the smallest in the same round. Lists are of 20, one read at a time.",
      "Any id: 65,536 ids drawn from all, in turn: what they lead to is in no cache when it is their turn again. 1000 ids: a working set, drawn from all.",
    ],
  };
}

function useRows(runtime: Runtime, { uses }: Sweep): readonly Row[] {
  const target = TARGET_BYTES[runtime.name];
  return [...uses].map(([animals, { resident, heap }]) => [
    titleOf(runtime),
    scientific(animals),
    resident,
    heap,
    `${target}${Math.max(resident, heap) > target ? " missed" : ""}`,
  ]);
}

function useTable(rows: readonly Row[]): Table {
  return {
    title: "memoryStorage: bytes for an animal",
    columns: ["runtime", "animals", "resident", "heap", "target"],
    rows,
    notes: [
      "After a collection and a pause, less what the process took after 200,000 animals that are gone again. Names of 12 to 19 characters, each its own text, are counted.",
    ],
  };
}

function scientific(animals: number): string {
  return `1e${Math.log10(animals)}`;
}

function say(storage: string, { name }: Runtime): void {
  console.error(`Sizes of ${storage} on ${name}`);
}
