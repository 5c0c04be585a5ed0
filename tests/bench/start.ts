/**
 * The part `start` of the bench: from the start of a process to its first answer over HTTP.
 *
 * @module
 */

import { join } from "node:path";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { endOnSignal } from "./end_on_signal.ts";
import { KEY } from "./http/cases.ts";
import { install } from "./http/install.ts";
import { findRuntimes, type Runtime } from "./http/runtimes.ts";
import { endAll } from "./http/server.ts";
import { titleOf } from "./in_runtime.ts";
import { inNewFolder } from "./new_folder.ts";
import type { BenchOptions } from "./options.ts";
import { firstAnswer, type Starter } from "./start/first_answer.ts";
import type { Table } from "./table.ts";
import { inTurns, middleHalf, ratios, roundedMedian } from "./turns.ts";

/** What everything is compared with. */
const BARE = "the runtime's own server";

const ANSWER = {
  status: 200,
  headers: { "content-type": "application/json" },
  body: "[]",
};

/** Measures every server on every runtime. */
export async function run(options: BenchOptions): Promise<readonly Table[]> {
  install();
  endOnSignal(endAll);
  const tables: Table[] = [];
  for (const runtime of findRuntimes(options.runtimes)) {
    console.error(`Start on ${runtime.name}`);
    tables.push(
      await inNewFolder((folder) => startTable(runtime, folder, options)),
    );
  }
  return tables;
}

async function startTable(
  runtime: Runtime,
  folder: string,
  { rounds }: BenchOptions,
): Promise<Table> {
  const servers = starters(runtime, folder, await madeDatabase(folder));
  const times = await inTurns(
    Object.fromEntries(
      servers.map((server) => [
        server.name,
        () => firstAnswer(runtime, server, KEY),
      ]),
    ),
    { rounds },
  );
  const bare = times[BARE] ?? [];
  return {
    title: `Start on ${titleOf(runtime)}: ms to the first answer`,
    columns: ["server", "ms", "middle half", "more than bare", "times bare"],
    rows: servers.map(({ name }) => {
      const own = times[name] ?? [];
      const more = own.map((time, round) => time - (bare[round] ?? NaN));
      return [
        name,
        roundedMedian(own, 0),
        middleHalf(own, 0),
        roundedMedian(more, 0),
        roundedMedian(ratios(own, bare)),
      ];
    }),
    notes: [
      "Medians, from before the process is started to the first byte of the 200 of GET /v1/pets with a key. What a runtime keeps of compiled code is there: the first round is not counted.",
    ],
  };
}

function starters(
  { name }: Runtime,
  folder: string,
  database: string,
): readonly Starter[] {
  const standalone = (
    DATABASE_URL: string,
    env: Starter["env"] = {},
  ): Omit<Starter, "name"> => ({
    program: "ours_standalone.ts",
    args: (port) => ["start", "--port", String(port)],
    env: { DATABASE_URL, REQUEST_LOG: "off", ...env },
  });
  const cached: Starter = {
    name: "standalone, in memory, with NODE_COMPILE_CACHE",
    ...standalone("memory:", { NODE_COMPILE_CACHE: join(folder, "compiled") }),
  };
  return [
    {
      name: BARE,
      program: "ceiling.ts",
      env: { ANSWER: JSON.stringify(ANSWER) },
    },
    { name: "createHandler, in memory", program: "ours.ts" },
    { name: "standalone, in memory", ...standalone("memory:") },
    ...name === "node" ? [cached] : [],
    { name: "standalone, SQLite", ...standalone(`sqlite:${database}`) },
    { name: "hono, in memory", program: "hono.ts" },
  ];
}

/** An SQLite file that was used before: making one waits for the disk. */
async function madeDatabase(folder: string): Promise<string> {
  const path = join(folder, "pets.db");
  const storage = await sqliteStorage(path);
  await storage.create({ name: "Rex", categoryId: 1n, status: "available" });
  await storage.close();
  return path;
}
