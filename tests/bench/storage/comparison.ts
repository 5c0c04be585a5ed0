/**
 * A storage beside a bare loop of its driver that does the same SQL.
 *
 * @module
 */

import { inTurns, middleHalf, ratios, roundedMedian } from "../turns.ts";
import { speedometer, type Way } from "../way.ts";

/** Two ways to do the same work. */
export interface Comparison {
  readonly name: string;
  readonly bare: Way;
  readonly ours: Way;
  /** The least ratio of their speeds that is good enough, by how many are under way at once. */
  readonly targets: Readonly<Record<number, number>>;
  /** Disks are less steady than processors. */
  readonly isWrite?: boolean;
}

/** How long everything takes. */
export interface ComparisonOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** A row of the table. */
export type ComparisonRow = readonly (string | number)[];

/** The columns of the table. */
export const COLUMNS = [
  "work",
  "at once",
  "bare/s",
  "ours/s",
  "ratio",
  "middle half",
  "target",
] as const;

const AT_ONCE = [1, 16, 64, 256];
// Many short turns beside each other say more about a ratio than few long ones.
const SHARE_OF_TURN = 0.05;
const ROUNDS_OF_READS = 3;
const ROUNDS_OF_WRITES = 5;
/** The first turns find out how much work a turn is. */
const WARM_UP = 3;

/** Measures all comparisons, with 1, 16, 64 and 256 under way at once. */
export async function compareAll(
  comparisons: readonly Comparison[],
  options: ComparisonOptions,
): Promise<readonly ComparisonRow[]> {
  const rows: ComparisonRow[] = [];
  for (const comparison of comparisons) {
    for (const atOnce of AT_ONCE) {
      rows.push(await compare(comparison, atOnce, options));
    }
  }
  return rows;
}

async function compare(
  { name, bare, ours, targets, isWrite = false }: Comparison,
  atOnce: number,
  { rounds, seconds }: ComparisonOptions,
): Promise<ComparisonRow> {
  const turnTime = seconds * SHARE_OF_TURN;
  const speeds = await inTurns({
    bare: speedometer(bare, atOnce, turnTime),
    ours: speedometer(ours, atOnce, turnTime),
  }, {
    rounds: rounds * (isWrite ? ROUNDS_OF_WRITES : ROUNDS_OF_READS),
    warmUp: WARM_UP,
  });
  const gains = ratios(speeds.ours, speeds.bare);
  const ratio = roundedMedian(gains);
  const target = targets[atOnce];
  return [
    name,
    atOnce,
    roundedMedian(speeds.bare, 0),
    roundedMedian(speeds.ours, 0),
    ratio,
    middleHalf(gains),
    target === undefined ? "" : `${target}${ratio < target ? " missed" : ""}`,
  ];
}
