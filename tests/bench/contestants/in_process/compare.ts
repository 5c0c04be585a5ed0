// Two ways to do the same work, measured by turns in one process, by mitata.
import { measure } from "mitata";
import * as figures from "../../table.ts";

/** Two ways to do the same work. `i` counts up. */
export interface Comparison {
  readonly name: string;
  readonly baseline: (i: number) => unknown;
  readonly ours: (i: number) => unknown;
  /** How many are under way at once. Default: 1. */
  readonly atOnce?: number;
  /** The least ratio of their speeds that is good enough. */
  readonly target?: number;
}

/** How long everything takes: a turn, `seconds`. */
export interface CompareOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** A row for each comparison: µs for one time, and how much faster ours is. */
export async function compareAll(
  comparisons: readonly Comparison[],
  { rounds, seconds }: CompareOptions,
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const { name, baseline, ours, atOnce = 1, target } of comparisons) {
    const turns = Object.entries({ baseline, ours }).map(([side, work]) =>
      [side, () => microseconds(work, seconds, atOnce)] as const
    );
    const times = await figures.inTurns(new Map(turns), { rounds, warmUp: 1 });
    const [bare, own] = [times("baseline"), times("ours")];
    const gains = figures.ratios(bare, own);
    const µs = [bare, own].map((side) => figures.median(side));
    const gain = [figures.judged(gains, target), figures.spread(gains)];
    rows.push([name, `${atOnce}`, ...µs, ...gain]);
  }
  return rows;
}

/** The median time of one, in µs. */
async function microseconds(
  work: (i: number) => unknown,
  seconds: number,
  atOnce: number,
): Promise<number> {
  let i = 0;
  const once = () => work(i++);
  const all = Array.from({ length: atOnce }, () => once);
  const isAsync = once() instanceof Promise;
  const some = isAsync
    ? () => Promise.all(all.map((each) => each()))
    : () => all.forEach((each) => each());
  const { p50 } = await measure(atOnce > 1 ? some : once, {
    ...{ min_cpu_time: seconds * 1e9, min_samples: 3, batch_samples: 64 },
    gc: false,
  });
  return p50 / 1000 / atOnce;
}
