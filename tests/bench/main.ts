/**
 * The bench: `deno task bench` runs all of it, `deno task bench http` one part.
 *
 * @module
 */

import process from "node:process";
import * as http from "./http.ts";
import * as inProcess from "./in_process.ts";
import { install } from "./install.ts";
import { type BenchOptions, parseCommand } from "./options.ts";
import * as start from "./start.ts";
import * as storage from "./storage.ts";
import { printTable, type Table } from "./table.ts";

/** The parts in the order they run in. */
const parts: Readonly<
  Record<string, (options: BenchOptions) => AsyncIterable<Table>>
> = {
  http: http.run,
  storage: storage.run,
  start: start.run,
  memory: inProcess.runMemory,
  paths: inProcess.runPaths,
};

const HELP = `deno task bench [PART…] [OPTIONS]

Parts: ${Object.keys(parts).join(", ")}. Default: all.

  --rounds N           how often everything has its turn (7)
  --seconds S          how long a turn is (0.5)
  --runtime LIST       deno,bun,node (all)
  --case LIST          http: cases, such as list20,get (all)
  --contestant LIST    http: contestants, such as floor,ours,hono (all)
  --program NAME=PATH  http: one more contestant, such as another checkout of ours; can be repeated
  --quick              http: measures nothing, but shows that all run and answer alike
  --json               all figures of all rounds, as JSON
`;

async function main(args: readonly string[]): Promise<void> {
  const command = parseCommand(args, Object.keys(parts));
  if (command.help) return void process.stdout.write(HELP);
  install();
  const tables: Table[] = [];
  for (const name of command.parts) {
    for await (const table of parts[name]?.(command.options) ?? []) {
      tables.push(table);
      if (!command.json) printTable(table);
    }
  }
  if (command.json) console.log(JSON.stringify(tables, null, 2));
}

try {
  await main(process.argv.slice(2));
  process.exit();
} catch (error) {
  console.error(error);
  process.exit(1);
}
