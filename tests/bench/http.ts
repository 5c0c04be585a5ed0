/**
 * The part `http` of the bench: servers in processes of their own, over loopback; ours beside the least
 * that a server with its answers must do, and beside the same service on frameworks.
 *
 * @module
 */

import { CASES } from "./http/cases.ts";
import { chooseContestants, ours } from "./http/contestants.ts";
import { measure } from "./http/measure.ts";
import { type CaseRounds, reportCase, reportRuntime } from "./http/report.ts";
import { type BenchOptions, choose } from "./options.ts";
import { findRuntime } from "./runtimes.ts";
import type { Table } from "./table.ts";

/** Measures every contestant in every case on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const { rounds, seconds, quick } = options;
  const known = CASES.map(({ name }) => name);
  const cases = choose(known, options.cases, "case");
  const chosen = chooseContestants(options);
  const warmUp = quick ? 0 : Math.min(2, 4 * seconds);
  const settings = { ours, rounds, seconds, warmUp, pets: quick ? 400 : 1e4 };
  for (const runtime of options.runtimes.map(findRuntime)) {
    const contestants = chosen.filter(({ runtimes }) =>
      runtimes.includes(runtime.name)
    );
    const others = contestants.filter(({ name }) => name !== ours.name);
    const found: CaseRounds[] = [];
    for (const work of CASES.filter(({ name }) => cases.includes(name))) {
      const title = `${runtime.title}, ${work.name}`;
      console.error(title);
      const figures = await measure({ runtime, work, others, ...settings });
      found.push({ work, rounds: figures });
      if (quick) continue;
      const how = `${rounds} rounds of ${seconds} s`;
      yield reportCase(`${title} (${how})`, contestants, figures);
    }
    if (!quick) yield reportRuntime(runtime.title, contestants, found);
  }
  if (quick) console.error("All contestants run and answer alike");
}
