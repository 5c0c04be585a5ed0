/**
 * Two ways to do the same work, measured by turns in one process, by mitata.
 *
 * @module
 */

import { measure } from "mitata";
import { judged, middle, ratios, spread, type Table } from "../../table.ts";
import { inTurns } from "../../turns.ts";

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
  options: CompareOptions,
): Promise<Table["rows"]> {
  const rows: (readonly string[])[] = [];
  for (const { name, baseline, ours, atOnce = 1, target } of comparisons) {
    const { base = [], own = [] } = await inTurns({
      base: () => microseconds(baseline, atOnce, options),
      own: () => microseconds(ours, atOnce, options),
    }, options.rounds + 1); // the first one is a warm-up
    const gains = ratios(base, own).slice(1);
    rows.push([
      name,
      String(atOnce),
      middle(base.slice(1)),
      middle(own.slice(1)),
      judged(gains, target),
      spread(gains),
    ]);
  }
  return rows;
}

/** The median time of one, in µs. */
export async function microseconds(
  work: (i: number) => unknown,
  atOnce: number,
  { seconds }: CompareOptions,
): Promise<number> {
  let i = 0;
  const isAsync = work(i++) instanceof Promise;
  const once = () => work(i++);
  const all = Array.from({ length: atOnce });
  const way = atOnce > 1
    ? isAsync ? () => Promise.all(all.map(once)) : () => all.forEach(once)
    : isAsync
    ? async () => await once()
    : once;
  const { p50 } = await measure(way, {
    min_cpu_time: seconds * 1e9,
    min_samples: 3,
    batch_samples: 64,
  });
  return p50 / 1000 / atOnce;
}
