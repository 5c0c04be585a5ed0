/**
 * The bench: `deno task bench`.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CASES } from "./cases.ts";
import { DATABASES } from "./databases.ts";
import { measureFleet } from "./fleet.ts";
import { measure, type Measured } from "./measure.ts";
import { printFigures, printTimes, writeReport } from "./report.ts";
import { RUNTIMES } from "./runtimes.ts";
import { ours, SETTINGS, toCheckout } from "./settings.ts";

const ROOT = new URL("../../../", import.meta.url);

const HELP = `deno task bench [OPTIONS]

  --database LIST  sqlite,postgresql (both)
  --runtime LIST   deno,bun,node (all)
  --case LIST      ${CASES.map(({ name }) => name).join(",")} (all)
  --pets N         how many pets there are before (30000)
  --rounds N       how often everything has its turn (5)
  --seconds S      how long a turn is (1)
  --before FOLDER  measures another checkout of this project too
  --fleet          measures several servers of ours on one database instead
  --write          writes docs/speed.md and docs/speed.svg
  --quick          measures nothing, but shows that all run and answer alike
`;

/** Installs the packages of the peers, which the service itself does not need. */
function install(): void {
  const cwd = fileURLToPath(new URL("contestants", import.meta.url));
  if (existsSync(`${cwd}/node_modules/postgres`)) return;
  console.error("Installing the packages of the bench");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd, stdio: "ignore" });
}

/** Those of some names that are in a list, or all; throws when one is not among them. */
function choose<T extends string>(
  names: readonly T[],
  list: string | undefined,
): readonly T[] {
  const wanted = list?.split(",") ?? names;
  const known = new Set<string>(names);
  const unknown = wanted.find((name) => !known.has(name));
  if (unknown === undefined) return names.filter((n) => wanted.includes(n));
  throw new TypeError(`${unknown} is none of ${names.join(", ")}`);
}

async function main(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args,
    options: {
      ...{ database: text, runtime: text, case: text, before: text },
      ...{ fleet: flag, write: flag, quick: flag, help: flag },
      pets: { type: "string", default: "30000" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "1" },
    },
  });
  if (values.help) return console.log(HELP);
  const { quick, before, write } = values;
  const names = choose(CASES.map(({ name }) => name), values.case);
  const databases = choose(DATABASES, values.database);
  const runtimes = choose(RUNTIMES, values.runtime);
  const cases = CASES.filter(({ name }) => names.includes(name));
  const settings = SETTINGS.filter(({ database, runtime }) =>
    databases.includes(database) && runtimes.includes(runtime)
  );
  const isWhole = cases.length === CASES.length &&
    settings.length === SETTINGS.length && !quick && !values.fleet;
  if (write && !isWhole) throw new TypeError("--write needs all figures");
  install();

  const others = before === undefined
    ? []
    : [ours("before", toCheckout(before))];
  const options = {
    ...{ ours: [ours("ours", ROOT), ...others], cases, quick },
    pets: quick ? 200 : Number(values.pets),
    rounds: quick ? 1 : Number(values.rounds),
    seconds: Number(values.seconds),
  };
  if (values.fleet) {
    for (const database of databases) {
      for (const runtime of runtimes) {
        await measureFleet(database, runtime, options);
      }
    }
    return;
  }
  const all: Measured[] = [];
  for (const setting of settings) {
    const { database, runtime, peer } = setting;
    console.error(`${database}, ${runtime}: ours and ${peer.name}`);
    const measured = await measure(setting, options);
    all.push(measured);
    if (!quick) printFigures(measured);
  }
  if (quick) return console.error("All contestants run and answer alike");
  printTimes(all);
  if (write) writeReport(all, options);
}

try {
  await main(process.argv.slice(2));
  process.exit();
} catch (error) {
  console.error(error);
  process.exit(1);
}
