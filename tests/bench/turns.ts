/**
 * Measuring by turns: the speed of a machine wanders more in a minute than what is compared differs, so
 * all take a turn in every round, and what counts are the ratios inside each round.
 *
 * @module
 */

import { median } from "./table.ts";

/** Measures once, and is fulfilled with the figure. */
export type Turn = () => Promise<number>;

/** How often all have their turn. */
export interface TurnOptions {
  readonly rounds: number;
  /** Rounds before, which are not counted. Default: 1. */
  readonly warmUp?: number;
}

/** The figures of each, round by round. Who begins is another one in every round. */
export async function inTurns<Name extends string>(
  turns: Readonly<Record<Name, Turn>>,
  { rounds, warmUp = 1 }: TurnOptions,
): Promise<Record<Name, readonly number[]>> {
  const names = Object.keys(turns) as Name[];
  const figures = Object.fromEntries(
    names.map((name) => [name, [] as number[]]),
  ) as Record<Name, number[]>;
  for (let round = -warmUp; round < rounds; round++) {
    const first = Math.abs(round) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const figure = await turns[name]();
      if (round >= 0) figures[name].push(figure);
    }
  }
  return figures;
}

/** The ratio of two figures in each round. */
export function ratios(
  over: readonly number[],
  under: readonly number[],
): readonly number[] {
  return over.map((figure, round) => figure / (under[round] ?? NaN));
}

/** The middle half of some numbers, as text: a quarter is below it and a quarter above. */
export function middleHalf(values: readonly number[], digits = 2): string {
  const sorted = values.toSorted((a, b) => a - b);
  const quarter = Math.floor(sorted.length / 4);
  const low = sorted[quarter] ?? NaN;
  const high = sorted[sorted.length - 1 - quarter] ?? NaN;
  return `${low.toFixed(digits)}–${high.toFixed(digits)}`;
}

/** The median of some numbers, with so many digits after the point. */
export function roundedMedian(values: readonly number[], digits = 2): number {
  return Number(median(values).toFixed(digits));
}
