/**
 * Two ways to do the same work, measured by turns in one process, by mitata.
 *
 * @module
 */

import { measure } from "mitata";
import {
  inTurns,
  judged,
  median,
  ratios,
  spread,
  type Table,
} from "../../table.ts";

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

/** How long everything takes. */
export interface CompareOptions {
  readonly rounds: number;
  /** How long a turn is. */
  readonly seconds: number;
}

/** A row for each comparison: µs for one time, and how much faster ours is. */
export async function compareAll(
  comparisons: readonly Comparison[],
  { rounds, seconds }: CompareOptions,
): Promise<Table["rows"]> {
  const rows: string[][] = [];
  for (const { name, baseline, ours, atOnce = 1, target } of comparisons) {
    const turns = Object.entries({ baseline, ours }).map(([side, work]) =>
      [side, () => microseconds(work, seconds, atOnce)] as const
    );
    const times = await inTurns(new Map(turns), { rounds, warmUp: 1 });
    const [bare, own] = [times("baseline"), times("ours")];
    const gains = ratios(bare, own);
    const figures = [median(bare), median(own), judged(gains, target)];
    rows.push([name, String(atOnce), ...figures, spread(gains)]);
  }
  return rows;
}

/** The median time of one, in µs, with so many under way at once. */
export async function microseconds(
  work: (i: number) => unknown,
  seconds: number,
  atOnce = 1,
): Promise<number> {
  let i = 0;
  const once = () => work(i++);
  const all = Array.from({ length: atOnce }, () => once);
  const isAsync = once() instanceof Promise;
  const some = isAsync
    ? () => Promise.all(all.map((each) => each()))
    : () => all.forEach((each) => each());
  const { p50 } = await measure(atOnce > 1 ? some : once, {
    min_cpu_time: seconds * 1e9,
    min_samples: 3,
    gc: false,
    batch_samples: 64,
  });
  return p50 / 1000 / atOnce;
}
