/**
 * The part `storage` of the bench: `sqliteStorage` and `postgresStorage` beside bare loops of their
 * drivers that do the same SQL, and what group commit gains over HTTP.
 *
 * @module
 */

import { endOnSignal } from "./end_on_signal.ts";
import { findRuntimes, type Runtime } from "./http/runtimes.ts";
import { endAll } from "./http/server.ts";
import { inRuntime, titleOf } from "./in_runtime.ts";
import { withNewDatabases } from "./new_database.ts";
import { inNewFolder } from "./new_folder.ts";
import type { BenchOptions } from "./options.ts";
import {
  COLUMNS,
  type ComparisonOptions,
  type ComparisonRow,
} from "./storage/comparison.ts";
import { CONNECTIONS, measureHttpCreates } from "./storage/http_creates.ts";
import type { PostgresTask } from "./storage/postgres.ts";
import type { SqliteTask } from "./storage/sqlite.ts";
import type { Table } from "./table.ts";
import { middleHalf, ratios, roundedMedian } from "./turns.ts";

const LIMIT = 300; // seconds, for a runtime on one of the databases
const NOTES = [
  "Medians; ratio: ours to the bare loop in the same round; middle half: of the ratios.",
];

/** Measures both storages on every runtime. */
export async function run(options: BenchOptions): Promise<readonly Table[]> {
  const { rounds, seconds } = options;
  endOnSignal(endAll);
  const runtimes = findRuntimes(options.runtimes);
  const tables: Table[] = [];
  for (const runtime of runtimes) {
    say(`SQLite on ${runtime.name}`);
    tables.push(await sqliteTable(runtime, { rounds, seconds }));
  }
  tables.push(...await postgresTables(runtimes, { rounds, seconds }));
  tables.push(await httpTable(runtimes, { rounds, seconds }));
  return tables;
}

async function sqliteTable(
  runtime: Runtime,
  options: ComparisonOptions,
): Promise<Table> {
  const rows = await inNewFolder((folder) => {
    const task: SqliteTask = { ...options, folder };
    const program = new URL("storage/sqlite.ts", import.meta.url);
    return inRuntime(runtime, program, { task, seconds: LIMIT });
  });
  return {
    title: `SQLite on ${titleOf(runtime)}: sqliteStorage and bare node:sqlite`,
    columns: COLUMNS,
    rows: rows as readonly ComparisonRow[],
    notes: [
      ...NOTES,
      "The bare loop does one after the other, for its calls block; each of its creates is a transaction.",
    ],
  };
}

async function postgresTables(
  runtimes: readonly Runtime[],
  options: ComparisonOptions,
): Promise<readonly Table[]> {
  return await withNewDatabases(async (newDatabase) => {
    const tables: Table[] = [];
    for (const runtime of runtimes) {
      say(`PostgreSQL on ${runtime.name}`);
      const task: PostgresTask = { ...options, url: await newDatabase() };
      const program = new URL("storage/postgres.ts", import.meta.url);
      const rows = await inRuntime(runtime, program, { task, seconds: LIMIT });
      tables.push({
        title: `PostgreSQL on ${titleOf(runtime)}: postgresStorage and bare pg`,
        columns: COLUMNS,
        rows: rows as readonly ComparisonRow[],
        notes: [
          ...NOTES,
          "Both have a pool of 10 connections; each create of the bare loop is an INSERT of its own.",
        ],
      });
    }
    return tables;
  });
}

async function httpTable(
  runtimes: readonly Runtime[],
  options: ComparisonOptions,
): Promise<Table> {
  const rows: (string | number)[][] = [];
  for (const runtime of runtimes) {
    say(`Creates over HTTP on ${runtime.name}`);
    const { gathered, alone } = await measureHttpCreates(runtime, options);
    const gains = ratios(gathered, alone);
    rows.push([
      titleOf(runtime),
      roundedMedian(alone, 0),
      roundedMedian(gathered, 0),
      roundedMedian(gains, 1),
      middleHalf(gains, 1),
    ]);
  }
  return {
    title: `Creates on SQLite over HTTP, ${CONNECTIONS} connections`,
    columns: [
      "runtime",
      "a transaction each/s",
      "group commit/s",
      "ratio",
      "middle half",
    ],
    rows,
    notes: NOTES,
  };
}

function say(what: string): void {
  console.error(what);
}
