/**
 * The part `http` of the bench: servers in processes of their own, over loopback; ours beside what the
 * runtime itself can do, and beside the same service on frameworks.
 *
 * @module
 */

import { endOnSignal } from "./end_on_signal.ts";
import { type Case, chooseCases } from "./http/cases.ts";
import { chooseContestants, type Contestant } from "./http/contestants.ts";
import { install } from "./http/install.ts";
import { CONNECTIONS, findLoad } from "./http/load.ts";
import { measure, type MeasureOptions } from "./http/measure.ts";
import { type CaseRounds, reportCase, reportRuntime } from "./http/report.ts";
import { findRuntimes, type Runtime } from "./http/runtimes.ts";
import { endAll } from "./http/server.ts";
import type { BenchOptions } from "./options.ts";
import type { Table } from "./table.ts";

/** How much of everything there is; and in a quick run, where just enough is enough. */
const FULL = { animals: 10_000, warmUp: 2 };
const QUICK = { animals: 600, warmUp: 0 };

type Settings = Omit<MeasureOptions, "runtime" | "work" | "contestants">;

/** Measures every contestant in every case on every runtime. */
export async function run(options: BenchOptions): Promise<readonly Table[]> {
  const cases = chooseCases(options.cases);
  const chosen = chooseContestants(options.contestants);
  install();
  endOnSignal(endAll);
  const runtimes = findRuntimes(options.runtimes);
  const { name, load } = findLoad();
  const { rounds, seconds, quick } = options;
  const settings = { ...quick ? QUICK : FULL, rounds, seconds, load };
  const tables: Table[] = [];
  try {
    for (const runtime of runtimes) {
      const contestants = chosen.filter(({ runtimes }) =>
        runtimes.includes(runtime.name)
      );
      const found = await measureCases(runtime, cases, contestants, settings);
      if (quick) continue;
      const title = `${runtime.name} ${runtime.version}`;
      const how =
        `rounds: ${rounds} of ${seconds} s, ${name} over ${CONNECTIONS} connections`;
      tables.push(
        ...found.map(({ name, rounds }) =>
          reportCase(`${title}, ${name} (${how})`, contestants, rounds)
        ),
        reportRuntime(title, contestants, found),
      );
    }
  } finally {
    endAll();
  }
  if (quick) console.error("http: all ran, and all answered alike");
  return tables;
}

async function measureCases(
  runtime: Runtime,
  cases: readonly Case[],
  contestants: readonly Contestant[],
  settings: Settings,
): Promise<CaseRounds[]> {
  const found: CaseRounds[] = [];
  for (const work of cases) {
    const names = contestants.map(({ name }) => name).join(", ");
    console.error(
      `${runtime.name} ${runtime.version}, ${work.name}: ${names}`,
    );
    const rounds = await measure({ runtime, work, contestants, ...settings });
    found.push({ name: work.name, rounds });
  }
  return found;
}
