/**
 * The bench: `deno task bench` runs all of it, `deno task bench http` one part.
 *
 * @module
 */

import process from "node:process";
import { install } from "./install.ts";
import { type BenchOptions, parseCommand, UsageError } from "./options.ts";
import { printTable, type Table } from "./table.ts";

/** A part of the bench. It yields its tables one by one. */
interface Part {
  run(options: BenchOptions): AsyncIterable<Table>;
}

/** The parts in the order they run in. */
const parts: Readonly<Record<string, () => Promise<Part>>> = {
  http: () => import("./http.ts"),
  storage: () => import("./storage.ts"),
  start: () => import("./start.ts"),
  memory: () => import("./memory.ts"),
  paths: () => import("./paths.ts"),
};

const HELP = `deno task bench [PART…] [OPTIONS]

Parts: ${Object.keys(parts).join(", ")}. Default: all.

  --rounds N           how often everything has its turn (7)
  --seconds S          how long a turn is (0.5)
  --runtime LIST       deno,bun,node (all)
  --case LIST          http: cases, such as list20,get (all)
  --contestant LIST    http: contestants, such as floor,ours,hono (all)
  --program NAME=PATH  http: one more contestant, such as another checkout of ours; can be repeated
  --quick              measures nothing, but shows that all runs and answers alike
  --json               all figures of all rounds, as JSON
`;

async function main(args: readonly string[]): Promise<void> {
  const command = parseCommand(args, Object.keys(parts));
  if (command.help) return void process.stdout.write(HELP);
  install();
  const tables: Table[] = [];
  for (const name of command.parts) {
    const part = await parts[name]?.();
    if (part === undefined) continue;
    for await (const table of part.run(command.options)) {
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
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(1);
}
