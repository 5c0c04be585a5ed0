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
import { POST } from "./http/cases.ts";
import { type Contestant, contestant } from "./http/contestants.ts";
import { measure } from "./http/measure.ts";
import { cpu, over, rate } from "./http/report.ts";
import { inProcess } from "./in_process.ts";
import type { BenchOptions } from "./options.ts";
import { runProgram } from "./process.ts";
import { findRuntime, type Runtime } from "./runtimes.ts";
import { median, spread, type Table } from "./table.ts";

/** Measures both databases on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const { rounds, seconds } = options;
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const cluster = await startCluster();
  try {
    for (const runtime of options.runtimes.map(findRuntime)) {
      console.error(`${runtime.title}, storages`);
      const files = mkdtempSync(join(folder, "files-"));
      const databases = {
        sqlite: files,
        postgres: await cluster.newDatabase(),
      };
      for (const [name, address] of Object.entries(databases)) {
        // Figures settle sooner here than over HTTP.
        const task = { rounds, seconds: seconds / 5, address };
        const rows = await runProgram(runtime, inProcess(name), task);
        yield {
          title: `${name} on ${runtime.title}, beside its bare driver`,
          columns: "|at once|bare µs|ours µs|bare/ours|min..max".split("|"),
          rows: rows as Table["rows"],
        };
      }
      yield await durableCreates(runtime, files, options);
    }
  } finally {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates over HTTP, each on disk before its 201: WAL and synchronous=FULL. */
async function durableCreates(
  runtime: Runtime,
  folder: string,
  { rounds, seconds }: BenchOptions,
): Promise<Table> {
  function onSqlite(program: string, setting?: string): Contestant {
    const name = [program, setting ?? "group commit"].join(", ");
    const SQLITE_FILE = join(folder, `${name}.db`);
    const env = { SQLITE_FILE, DRIVER: setting ?? "" };
    const kind = program === "ours" ? "ours" : "framework";
    return contestant(name, kind, { program, env });
  }
  const ours = onSqlite("ours");
  const frameworks = runtime.name === "node" ? ["hono", "fastify"] : ["hono"];
  const drivers = runtime.name === "node"
    ? ["node:sqlite", "better-sqlite3"]
    : ["node:sqlite"];
  const others = [
    onSqlite("ours", "one transaction each"),
    ...frameworks.flatMap((each) => drivers.map((on) => onSqlite(each, on))),
  ];
  const settings = { rounds, seconds, warmUp: 1, pets: 100 };
  const found = await measure(
    { runtime, work: POST, ours, others, ...settings },
  );
  const rows = [ours, ...others].map(({ name }) => {
    const turns = found(name);
    const gains = over(found, rate, [ours.name, name]);
    return [
      name,
      median(turns.map(rate), 0),
      median(turns.map(cpu), 1),
      median(turns.map(({ p50 }) => p50)),
      median(turns.map(({ p99 }) => p99)),
      median(gains),
      spread(gains),
    ];
  });
  return {
    title: `Durable creates on ${runtime.title} over HTTP, 64 connections`,
    columns: "|creates/s|CPU µs|p50 ms|p99 ms|ours/it|min..max".split("|"),
    rows,
  };
}
