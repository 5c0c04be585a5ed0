/**
 * The part `http` of the bench: servers in processes of their own, over loopback; ours beside the least
 * that a server with its answers must do, and beside the same service on frameworks.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CASES, DURABLE } from "./http/cases.ts";
import { chooseContestants } from "./http/contestants.ts";
import { measure } from "./http/measure.ts";
import { type CaseRounds, reportCase, reportRuntime } from "./http/report.ts";
import { type BenchOptions, choose } from "./options.ts";
import { findRuntime } from "./runtimes.ts";
import type { Table } from "./table.ts";

/** Measures every contestant in every case on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const { rounds, seconds, quick } = options;
  const cases = choose(CASES.map(({ name }) => name), options.cases);
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const warmUp = quick ? seconds : Math.min(2, 4 * seconds);
  try {
    for (const runtime of options.runtimes.map(findRuntime)) {
      const found: CaseRounds[] = [];
      for (const work of CASES.filter(({ name }) => cases.includes(name))) {
        const title = `${runtime.title}, ${work.name}`;
        console.error(title);
        const contestants = chooseContestants(work.name, options)
          .filter(({ runtimes }) => runtimes.includes(runtime.name));
        const isDurable = work === DURABLE;
        const figures = await measure({
          ...{ runtime, work, contestants, rounds, seconds, warmUp },
          pets: quick || isDurable ? 400 : 10_000,
          folder: isDurable ? folder : undefined,
        });
        const each = { work, contestants, rounds: figures };
        if (!isDurable) found.push(each);
        const how = `${rounds} rounds of ${seconds} s`;
        if (!quick) yield reportCase(`${title} (${how})`, each);
      }
      if (!quick) yield reportRuntime(runtime.title, found);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  if (quick) console.error("All contestants run and answer alike");
}
