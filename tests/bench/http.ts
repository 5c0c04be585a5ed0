/**
 * The part `http` of the bench: servers in processes of their own, over loopback; ours beside the least
 * that a server with its answers must do, and beside the same service on frameworks.
 *
 * @module
 */

import { chooseCases } from "./http/cases.ts";
import { chooseContestants } from "./http/contestants.ts";
import { measure } from "./http/measure.ts";
import { type CaseRounds, reportCase, reportRuntime } from "./http/report.ts";
import { CONNECTIONS } from "./load/load.ts";
import type { BenchOptions } from "./options.ts";
import { findRuntimes } from "./runtimes.ts";
import type { Table } from "./table.ts";

/** Measures every contestant in every case on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const { rounds, seconds, quick } = options;
  const cases = chooseCases(options.cases);
  const chosen = chooseContestants(options);
  const settings = quick
    ? { rounds, seconds, warmUp: 0, pets: 400 }
    : { rounds, seconds, warmUp: Math.min(2, 4 * seconds), pets: 10_000 };
  for (const runtime of findRuntimes(options.runtimes)) {
    const contestants = chosen.filter(({ runtimes }) =>
      runtimes.includes(runtime.name)
    );
    const found: CaseRounds[] = [];
    for (const work of cases) {
      const title = `${runtime.title}, ${work.name}`;
      console.error(title);
      const figures = await measure(
        { runtime, work, contestants, ...settings },
      );
      found.push({ work, rounds: figures });
      if (quick) continue;
      const how =
        `${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections`;
      yield reportCase(`${title} (${how})`, contestants, figures);
    }
    if (!quick) yield reportRuntime(runtime.title, contestants, found);
  }
  if (quick) console.error("http: all ran, and all answered alike");
}
