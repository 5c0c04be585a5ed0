/**
 * The part `storage` of the bench: both databases beside bare loops of their drivers, and durable creates
 * over HTTP beside what people would write instead.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "../support/postgres/cluster.ts";
import { chooseCases } from "./http/cases.ts";
import { type Contestant, contestant, OURS } from "./http/contestants.ts";
import { measure } from "./http/measure.ts";
import type { BenchOptions } from "./options.ts";
import { runProgram } from "./process.ts";
import { findRuntimes, type Runtime } from "./runtimes.ts";
import { middle, ratios, spread, type Table } from "./table.ts";

const COLUMNS = ["", "at once", "bare µs", "ours µs", "bare/ours", "min..max"];
const NOTE = "Medians of one turn each; bare/ours: in the same round.";

/** Measures both databases on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const { rounds, seconds } = options;
  // A figure settles sooner here than over HTTP.
  const task = { rounds, seconds: seconds / 5 };
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const cluster = await startCluster();
  try {
    for (const runtime of findRuntimes(options.runtimes)) {
      const inFolder = mkdtempSync(join(folder, "files-"));
      const url = await cluster.newDatabase();
      const program = (name: string): URL =>
        new URL(`contestants/in_process/${name}.ts`, import.meta.url);
      console.error(`${runtime.title}, storages`);
      yield {
        title: `SQLite on ${runtime.title}, beside bare node:sqlite`,
        columns: COLUMNS,
        rows: await runProgram(runtime, program("sqlite"), {
          ...task,
          folder: inFolder,
        }) as Table["rows"],
        note: NOTE,
      };
      yield {
        title: `PostgreSQL on ${runtime.title}, beside bare pg`,
        columns: COLUMNS,
        rows: await runProgram(runtime, program("postgres"), {
          ...task,
          url,
        }) as Table["rows"],
        note: NOTE,
      };
      yield await durableCreates(runtime, inFolder, options);
    }
  } finally {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates over HTTP, each on disk before its 201. */
async function durableCreates(
  runtime: Runtime,
  folder: string,
  { rounds, seconds }: BenchOptions,
): Promise<Table> {
  let files = 0;
  function onSqlite(
    name: string,
    program: string,
    env: Readonly<Record<string, string>> = {},
  ): Contestant {
    const SQLITE_FILE = join(folder, `durable-${++files}.db`);
    const kind = program === "ours" ? "ours" : "framework";
    return contestant(name, kind, { program, env: { SQLITE_FILE, ...env } });
  }
  const better = { DRIVER: "better-sqlite3" };
  const contestants = [
    onSqlite(OURS, "ours"),
    onSqlite("ours, one transaction each", "ours", { MAX_BATCH: "1" }),
    onSqlite("hono, node:sqlite", "hono"),
    ...runtime.name === "node"
      ? [
        onSqlite("hono, better-sqlite3", "hono", better),
        onSqlite("fastify, node:sqlite", "fastify"),
        onSqlite("fastify, better-sqlite3", "fastify", better),
      ]
      : [],
  ];
  const [work] = chooseCases(["post"]);
  if (work === undefined) throw new TypeError("A case is missing");
  const found = await measure(
    { runtime, work, contestants, rounds, seconds, warmUp: 1, pets: 100 },
  );
  const rates = (name: string): number[] =>
    (found[name] ?? []).map(({ requests, seconds }) => requests / seconds);
  return {
    title: `Durable creates on ${runtime.title} over HTTP, 64 connections`,
    columns: [
      "",
      "creates/s",
      "CPU µs",
      "p50 ms",
      "p99 ms",
      "ours/it",
      "min..max",
    ],
    rows: contestants.map(({ name }) => {
      const turns = found[name] ?? [];
      const gains = ratios(rates(OURS), rates(name));
      return [
        name,
        middle(rates(name), 0),
        middle(turns.map(({ user, system }) => user + system), 1),
        middle(turns.map(({ p50 }) => p50)),
        middle(turns.map(({ p99 }) => p99)),
        middle(gains),
        spread(gains),
      ];
    }),
    raw: found,
    note:
      "All in WAL with synchronous=FULL; ours/it: creates a second in the same round.",
  };
}
