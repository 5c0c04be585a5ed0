/**
 * The rounds of a case as a table, and the cases of a runtime as one.
 *
 * @module
 */

import { judged, median, ratios, spread, type Table } from "../table.ts";
import type { Case } from "./cases.ts";
import { type Contestant, floor, ours } from "./contestants.ts";
import type { Rounds, Turn } from "./measure.ts";

/** The rounds of a case. */
export interface CaseRounds {
  readonly work: Case;
  readonly rounds: Rounds;
}

/** Processor time for one request: what decides. */
export const cpu = ({ user, system }: Turn): number => user + system;
/** Requests a second. */
export const rate = ({ requests, seconds }: Turn): number => requests / seconds;

/** A figure of one contestant over that of another, in each round. */
export function over(
  rounds: Rounds,
  figure: (turn: Turn) => number,
  [above, below]: readonly [above: string, below: string],
): number[] {
  return ratios(rounds(above).map(figure), rounds(below).map(figure));
}

/** Makes the table of one case. */
export function reportCase(
  title: string,
  contestants: readonly Contestant[],
  rounds: Rounds,
): Table {
  const rows = contestants.map(({ name }) => {
    const turns = rounds(name);
    const ofFloor = over(rounds, cpu, [floor.name, name]);
    const toOurs = over(rounds, cpu, [name, ours.name]);
    return [
      name,
      median(turns.map(rate), 0),
      median(turns.map(cpu), 1),
      median(turns.map(({ user }) => user), 1),
      median(turns.map(({ system }) => system), 1),
      ...[ofFloor, toOurs].flatMap((each) => [median(each), spread(each)]),
      median(turns.map(({ p50 }) => p50)),
      median(turns.map(({ p99 }) => p99)),
    ];
  });
  const columns = "|requests/s|CPU µs|user|system|floor/it|min..max|it/ours" +
    "|min..max|p50 ms|p99 ms";
  const raw = contestants.map(({ name }) => ({ name, turns: rounds(name) }));
  return { title, columns: columns.split("|"), rows, raw };
}

/** Makes the table of a runtime: the ratios by processor time, and the targets that they miss. */
export function reportRuntime(
  runtime: string,
  contestants: readonly Contestant[],
  cases: readonly CaseRounds[],
): Table {
  const rows = contestants.filter(({ name }) => name !== ours.name)
    .map(({ name, kind }) => {
      const isOurs = kind === "ours" || kind === "standalone";
      const pair = isOurs
        ? [ours.name, name] as const
        : [name, ours.name] as const;
      const cells = cases.map(({ work, rounds }) => {
        const target = kind === "ours" ? undefined : work.targets[kind];
        return judged(over(rounds, cpu, pair), target);
      });
      return [pair.join(" / "), ...cells];
    });
  return {
    title: `${runtime}: ratios by processor time (more is better for ours` +
      ", except of programs given; < target is a miss)",
    columns: ["", ...cases.map(({ work }) => work.name)],
    rows,
  };
}
