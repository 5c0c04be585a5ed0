/**
 * The part `http` of the bench: servers in processes of their own, over loopback; ours beside what the
 * runtime itself can do, and beside the same service on frameworks.
 *
 * @module
 */

import process from "node:process";
import { chooseCases } from "./http/cases.ts";
import { chooseContestants } from "./http/contestants.ts";
import { install } from "./http/install.ts";
import { CONNECTIONS, findLoad } from "./http/load.ts";
import { measure } from "./http/measure.ts";
import { report } from "./http/report.ts";
import { findRuntimes } from "./http/runtimes.ts";
import { endAll } from "./http/server.ts";
import type { BenchOptions } from "./options.ts";
import type { Table } from "./table.ts";

const ANIMALS = 10_000;
/** Enough for every case, and added in a moment. */
const QUICK_ANIMALS = 600;

/** Measures every contestant in every case on every runtime. */
export async function run(options: BenchOptions): Promise<readonly Table[]> {
  const { rounds, seconds, quick } = options;
  const cases = chooseCases(options.cases);
  const chosen = chooseContestants(options.contestants);
  install();
  endOnSignal();
  const [node, ...runtimes] = findRuntimes(["node", ...options.runtimes]);
  const { name: loadName, load } = findLoad(node?.command ?? "");
  const tables: Table[] = [];
  try {
    for (const runtime of runtimes) {
      const contestants = chosen.filter(({ runtimes }) =>
        runtimes.includes(runtime.name)
      );
      for (const work of cases) {
        console.error(`http: ${runtime.name} ${runtime.version}, ${work.name}`);
        const found = await measure({
          runtime,
          work,
          contestants,
          load,
          rounds,
          seconds,
          animals: quick ? QUICK_ANIMALS : ANIMALS,
        });
        const title =
          `${runtime.name} ${runtime.version}, ${work.name}: ${rounds} rounds of ${seconds} s, ${loadName}, ${CONNECTIONS} connections`;
        tables.push(report(title, contestants, found));
      }
    }
  } finally {
    endAll();
  }
  return tables;
}

/** The servers have no reason to outlive this process. */
function endOnSignal(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      endAll();
      process.exit(130);
    });
  }
}
