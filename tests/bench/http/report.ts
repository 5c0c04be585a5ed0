/**
 * The rounds of a case as a table, and the cases of a runtime as one.
 *
 * @module
 */

import { median, type Table } from "../table.ts";
import { CEILING, type Contestant, OURS } from "./contestants.ts";
import type { Round, Turn } from "./measure.ts";

/** The rounds of a case. */
export interface CaseRounds {
  readonly name: string;
  readonly rounds: readonly Round[];
}

type Cell = number | "";
type Figure = (turn: Turn) => number;

/** Requests a second. */
const rate: Figure = ({ requests, seconds }) => requests / seconds;
/** Requests in a µs of the server's processor time: as with the rate, more is better. */
const thrift: Figure = ({ processorTime }) => 1 / processorTime;

/** Makes the table of one case. */
export function reportCase(
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
      "min..max",
      "ours ×",
      "CPU µs",
      "of ceiling by CPU",
      "ours × by CPU",
      "p50 ms",
      "p99 ms",
    ],
    rows: contestants.map(({ name }) => [
      name,
      Math.round(middle(rounds, name, rate)),
      ratio(rounds, rate, name, CEILING),
      spread(ratios(rounds, rate, name, CEILING)),
      ratio(rounds, rate, OURS, name),
      rounded(middle(rounds, name, ({ processorTime }) => processorTime), 1),
      ratio(rounds, thrift, name, CEILING),
      ratio(rounds, thrift, OURS, name),
      rounded(middle(rounds, name, ({ p50 }) => p50), 2),
      rounded(middle(rounds, name, ({ p99 }) => p99), 2),
    ]),
    raw: rounds,
  };
}

/** Makes the table of a runtime: ours beside each other contestant, in every case. */
export function reportRuntime(
  runtime: string,
  contestants: readonly Contestant[],
  cases: readonly CaseRounds[],
): Table {
  const columns = cases.flatMap(({ name }) => [name, "by CPU"]);
  return {
    title:
      `${runtime}: how many times the requests of each ours answers, and how many in the same processor time`,
    columns: ["", ...columns],
    rows: contestants.filter(({ name }) => name !== OURS).map(({ name }) => [
      name,
      ...cases.flatMap(({ rounds }) => [
        ratio(rounds, rate, OURS, name),
        ratio(rounds, thrift, OURS, name),
      ]),
    ]),
    notes: [
      "Medians of ratios inside each round. Above 1, ours is faster; the line of the ceiling is how near ours comes to the runtime itself.",
    ],
  };
}

function middle(
  rounds: readonly Round[],
  name: string,
  figure: Figure,
): number {
  return median(rounds.flatMap((round) => round[name] ?? []).map(figure));
}

/** One contestant's figure over another's in the same round: then the machine was the same for both. */
function ratios(
  rounds: readonly Round[],
  figure: Figure,
  above: string,
  below: string,
): number[] {
  return rounds.flatMap((round) => {
    const [a, b] = [round[above], round[below]];
    return a === undefined || b === undefined ? [] : figure(a) / figure(b);
  });
}

function ratio(
  rounds: readonly Round[],
  figure: Figure,
  above: string,
  below: string,
): Cell {
  const values = ratios(rounds, figure, above, below);
  return values.length === 0 ? "" : rounded(median(values), 2);
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return "";
  return `${Math.min(...values).toFixed(2)}..${Math.max(...values).toFixed(2)}`;
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
