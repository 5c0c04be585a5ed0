/**
 * The bench: `deno task bench` runs all of it, `deno task bench http` one part.
 *
 * @module
 */

import process from "node:process";
import { type BenchOptions, parseCommand, UsageError } from "./options.ts";
import { printTable, type Table } from "./table.ts";

/** A part of the bench. It tells on standard error how far it is. */
interface Part {
  run(options: BenchOptions): Promise<readonly Table[]>;
}

/** The parts in the order they run in; each is loaded only when it is its turn. */
const parts: Readonly<Record<string, () => Promise<Part>>> = {
  http: () => import("./http.ts"),
  storage: () => import("./storage.ts"),
  sizes: () => import("./sizes.ts"),
  start: () => import("./start.ts"),
  bundle: () => import("./bundle.ts"),
  paths: () => import("./paths.ts"),
};

const HELP = `deno task bench [PART…] [OPTIONS]

Parts: ${Object.keys(parts).join(", ")}. Default: all.

  --rounds N          how often everything has its turn (11)
  --seconds S         how long a turn is, in seconds (0.5)
  --runtime LIST      deno,bun,node (all)
  --case LIST         http: cases, such as list20,get (all)
  --contestant LIST   http: contestants, such as ours,ceiling,hono (all)
  --quick             one round of 0.2 s: it measures nothing, but shows that all runs
  --json              all figures, raw ones too, as JSON
`;

async function main(args: readonly string[]): Promise<void> {
  const command = parseCommand(args, Object.keys(parts));
  if (command.help) return void process.stdout.write(HELP);
  const tables: Table[] = [];
  for (const name of command.parts) {
    const part = await parts[name]?.();
    const found = await part?.run(command.options) ?? [];
    tables.push(...found);
    if (!command.json) found.forEach(printTable);
  }
  if (command.json) console.log(JSON.stringify(tables, null, 2));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${error.message}. --help shows what there is.`);
  } else console.error(error);
  process.exitCode = 1;
}
