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
  readonly contestants: readonly Contestant[];
  readonly rounds: Rounds;
}

/** Processor time for one request: what decides. */
const cpu = ({ user, system }: Turn): number => user + system;
const rate = ({ requests, seconds }: Turn): number => requests / seconds;

/** A figure of one contestant over that of another, in each round. */
function over(
  rounds: Rounds,
  figure: (turn: Turn) => number,
  [above, below]: readonly [above: string, below: string],
): number[] {
  return ratios(rounds(above).map(figure), rounds(below).map(figure));
}

/** Makes the table of one case. The ratios are of processor time, but for the one of requests. */
export function reportCase(
  title: string,
  { contestants, rounds }: CaseRounds,
): Table {
  const rows = contestants.map(({ name }) => {
    const turns = rounds(name);
    const ofFloor = over(rounds, cpu, [floor.name, name]);
    const toOurs = over(rounds, cpu, [name, ours.name]);
    return [
      name,
      median(turns.map(cpu), 1),
      median(turns.map(({ user }) => user), 1),
      median(turns.map(({ system }) => system), 1),
      ...[ofFloor, toOurs].flatMap((each) => [median(each), spread(each)]),
      median(turns.map(rate), 0),
      median(over(rounds, rate, [ours.name, name])),
      median(turns.map(({ p50 }) => p50)),
      median(turns.map(({ p99 }) => p99)),
    ];
  });
  const columns = "|CPU µs|user|system|floor/it|min..max|it/ours|min..max" +
    "|requests/s|ours/it|p50 ms|p99 ms";
  const raw = contestants.map(({ name }) => ({ name, turns: rounds(name) }));
  return { title, columns: columns.split("|"), rows, raw };
}

/** Makes the table of a runtime: the ratios by processor time, with each target that is missed. */
export function reportRuntime(
  runtime: string,
  cases: readonly CaseRounds[],
): Table {
  const [all] = cases;
  const others = all?.contestants.filter(({ name }) => name !== ours.name);
  const rows = others?.map(({ name, kind }) => {
    const [above, below] = kind === "ours" || kind === "standalone"
      ? [ours.name, name]
      : [name, ours.name];
    const cells = cases.map(({ work, rounds }) => {
      const target = kind === "ours" ? undefined : work.targets[kind];
      return judged(over(rounds, cpu, [above, below]), target);
    });
    return [`${above} / ${below}`, ...cells];
  }) ?? [];
  const columns = ["", ...cases.map(({ work }) => work.name)];
  return { title: `${runtime}: ratios by processor time`, columns, rows };
}
