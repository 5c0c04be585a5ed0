/**
 * The bench: `deno task bench` runs all of it, `deno task bench http` one part.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { run as http } from "./http.ts";
import { storage } from "./in_process.ts";
import { type BenchOptions, parseOptions } from "./options.ts";
import { run as start } from "./start.ts";
import { printTable, type Table } from "./table.ts";

/** The parts in the order they run in. */
const parts: Readonly<
  Record<string, (options: BenchOptions) => AsyncIterable<Table>>
> = { http, storage, start };

const HELP = `deno task bench [PART…] [OPTIONS]

Parts: ${Object.keys(parts).join(", ")}. Default: all.

  --runtime LIST       deno,bun,node (all)
  --case LIST          http: cases, such as list20,get (all)
  --contestant LIST    http: contestants, such as floor,ours,hono (all)
  --program NAME=PATH  http: one more contestant, such as another checkout of ours; can be repeated
  --rounds N           how often everything has its turn (7)
  --seconds S          how long a turn is (0.5)
  --quick              http: measures nothing, but shows that all run and answer alike
  --json               the figures of all rounds, as JSON
`;

/** Installs the packages of the bench, which the service itself does not need. */
function install(): void {
  const cwd = fileURLToPath(new URL("contestants", import.meta.url));
  if (existsSync(`${cwd}/node_modules/mitata`)) return;
  console.error("Installing the packages of the bench");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd, stdio: "ignore" });
}

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args, Object.keys(parts));
  if (options.help) return console.log(HELP);
  install();
  const tables: Table[] = [];
  for (const name of options.parts) {
    for await (const table of parts[name]?.(options) ?? []) {
      tables.push(table);
      if (!options.json) printTable(table);
    }
  }
  if (options.json) console.log(JSON.stringify(tables, null, 2));
}

try {
  await main(process.argv.slice(2));
  process.exit();
} catch (error) {
  console.error(error);
  process.exit(1);
}
