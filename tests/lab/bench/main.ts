/**
 * The bench: `deno task bench`.
 */

import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CASES } from "./cases.ts";
import { DATABASES } from "./databases.ts";
import { readSpeed, render, STORED } from "./document.ts";
import { install } from "./install.ts";
import { measure } from "./measure.ts";
import { printFigures, timesTable } from "./report.ts";
import { LOADS, ours, peer, SETTINGS } from "./settings.ts";
import { busyCores, storedText, toSetting, toSpeed } from "./speed.ts";

const ROOT = new URL("../../../", import.meta.url);

const HELP = `deno task bench [OPTIONS]

  --database LIST     sqlite,postgresql (both)
  --runtime LIST      deno,bun,node (all)
  --case LIST         ${CASES.map(({ name }) => name).join(",")} (all)
  --connections LIST  64,16,4,1,paced (all)
  --pets N            how many pets there are before (30000)
  --rounds N          how often everything has its turn (5)
  --seconds S         how long a turn is (0.4)
  --before FOLDER     measures another checkout of this project too
  --sources           measures our sources too, besides the package
  --fleet             measures 2 and 3 of ours on one database instead of the peer
  --write             writes speed.json, and from it docs/speed.md,
                      docs/speed.svg and a sentence of the README
  --render            writes them from speed.json, without measuring
  --quick             measures nothing, but shows that all run and answer alike
`;

/** Those of some that are in a list of names, or all; throws when one is not among them. */
function choose<T>(
  all: readonly T[],
  list: string | undefined,
  nameOf: (one: T) => string = String,
): readonly T[] {
  if (list === undefined) return all;
  const names = all.map(nameOf);
  const unknown = list.split(",").find((name) => !names.includes(name));
  if (unknown === undefined) {
    return all.filter((one) => list.split(",").includes(nameOf(one)));
  }
  throw new TypeError(`${unknown} is none of ${names.join(", ")}`);
}

async function main(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args,
    options: {
      ...{ database: text, runtime: text, case: text, connections: text },
      ...{ before: text, fleet: flag, write: flag, render: flag, quick: flag },
      ...{ sources: flag, help: flag },
      pets: { type: "string", default: "30000" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "0.4" },
    },
  });
  const { quick, before, write } = values;
  if (values.help) return console.log(HELP), 0;
  if (values.render) return writeDocuments(), 0;
  const cases = choose(CASES, values.case, ({ name }) => name);
  const loads = choose(
    LOADS,
    values.connections,
    ({ connections, isPaced }) => isPaced ? "paced" : `${connections}`,
  );
  const databases = choose(DATABASES, values.database);
  const runtimes = choose(["deno", "bun", "node"], values.runtime);
  const settings = SETTINGS.filter(({ database, runtime }) =>
    databases.includes(database) && runtimes.includes(runtime)
  );
  const isWhole = cases.length === CASES.length &&
    loads.length === LOADS.length && settings.length === SETTINGS.length;
  if (write && (!isWhole || quick || values.fleet)) {
    throw new TypeError("--write needs all figures");
  }

  const busy = busyCores();
  const started = performance.now();
  const minutes = () =>
    `${((performance.now() - started) / 60_000).toFixed(1)} min`;
  console.error("Packing and installing");
  const installed = install();
  const one = ours("ours", ROOT, installed);
  const own = [one];
  if (before !== undefined) {
    const checkout = pathToFileURL(`${resolve(before)}/`);
    own.push(ours("before", checkout, installed));
  }
  if (values.sources) {
    const file = new URL("adapters/standalone/main.ts", ROOT);
    own.push({ ...one, name: "sources", file });
  }
  const fleets = [2, 3].map((servers) => ({
    ...one,
    name: `${servers} servers`,
    servers,
  }));
  const options = {
    ...{ cases, loads, quick },
    pets: quick ? 200 : Number(values.pets),
    rounds: quick ? 1 : Number(values.rounds),
    seconds: Number(values.seconds),
  };
  const all = [];
  let failed = 0;
  for (const [index, setting] of settings.entries()) {
    const { database, runtime, peerName } = setting;
    const others = values.fleet ? fleets : [peer(peerName, installed)];
    const contestants = [...own, ...others];
    const which = `${index + 1} of ${settings.length}: ${database}, ${runtime}`;
    console.error(`${which} (${minutes()})`);
    try {
      const measured = await measure(setting, { ...options, contestants });
      all.push(measured);
      if (!quick) printFigures(toSetting(measured));
    } catch (error) { // such as a runtime that is missing: the others are measured all the same
      console.error(error);
      failed++;
    }
  }
  if (quick) {
    if (failed === 0) console.error("All contestants run and answer alike");
  } else if (!values.fleet) {
    console.log(
      "\nTimes as fast as the peer, with 1, 4, 16, 64 connections:\n",
    );
    console.log(timesTable(all.map(toSetting)));
  }
  if (write && all.length > 0) {
    const machine = `${availableParallelism()} cores (${
      cpus()[0]?.model.trim()
    })`;
    const speed = toSpeed(all, { ...options, machine, busy });
    writeFileSync(STORED, storedText(speed));
    writeDocuments();
  }
  console.error(`${minutes()}, ${failed} of ${settings.length} failed`);
  return Math.min(failed, 1);
}

/** Writes what the documents say of the stored figures. */
function writeDocuments(): void {
  for (const [file, text] of render(readSpeed())) writeFileSync(file, text);
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error);
  process.exit(1);
}
