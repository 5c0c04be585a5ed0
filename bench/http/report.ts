/**
 * The rounds of a case as a table.
 *
 * @module
 */

import { median, type Table } from "../table.ts";
import { CEILING, type Contestant, OURS } from "./contestants.ts";
import type { Round, Turn } from "./measure.ts";

/** Makes the table of a case. */
export function report(
  title: string,
  contestants: readonly Contestant[],
  rounds: readonly Round[],
): Table {
  return {
    title,
    columns: [
      "",
      "requests/s",
      "of ceiling",
      "spread",
      "ours is",
      "CPU µs",
      "of ceiling, CPU",
      "ours is, CPU",
      "p50 ms",
      "p99 ms",
    ],
    rows: contestants.map(({ name }) => row(name, rounds)),
    raw: rounds,
  };
}

const rate = ({ requests, seconds }: Turn): number => requests / seconds;
const cost = ({ processorTime }: Turn): number => processorTime;

function row(name: string, rounds: readonly Round[]): (string | number)[] {
  const of = (figure: (turn: Turn) => number): number[] =>
    rounds.flatMap((round) => round[name] ?? []).map(figure);
  /** One contestant's figure by another's in the same round: both had the same machine. */
  const by = (
    above: string,
    below: string,
    figure: (turn: Turn) => number,
  ): number[] =>
    rounds.flatMap((round) => {
      const [a, b] = [round[above], round[below]];
      return a === undefined || b === undefined ? [] : figure(a) / figure(b);
    });
  const share = by(name, CEILING, rate);
  return [
    name,
    Math.round(median(of(rate))),
    ratio(share),
    share.length === 0
      ? ""
      : `${Math.min(...share).toFixed(2)}..${Math.max(...share).toFixed(2)}`,
    ratio(by(OURS, name, rate)),
    Number(median(of(cost)).toFixed(1)),
    ratio(by(CEILING, name, cost)),
    ratio(by(name, OURS, cost)),
    Number(median(of(({ p50 }) => p50)).toFixed(2)),
    Number(median(of(({ p99 }) => p99)).toFixed(2)),
  ];
}

function ratio(values: readonly number[]): string {
  return values.length === 0 ? "" : median(values).toFixed(2);
}
