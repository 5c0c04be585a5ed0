/**
 * The rounds of a case as a table, and the cases of a runtime as one.
 *
 * @module
 */

import { judged, middle, ratios, spread, type Table } from "../table.ts";
import type { Case, Targets } from "./cases.ts";
import { type Contestant, FLOOR, OURS } from "./contestants.ts";
import type { Rounds, Turn } from "./measure.ts";

/** The rounds of a case. */
export interface CaseRounds {
  readonly work: Case;
  readonly rounds: Rounds;
}

/** Processor time for one request: what decides. */
const cpu = ({ user, system }: Turn): number => user + system;
const rate = ({ requests, seconds }: Turn): number => requests / seconds;

/** The processor time of one contestant over that of another, in each round. */
function over(rounds: Rounds, above: string, below: string): number[] {
  return ratios(rounds[above]?.map(cpu) ?? [], rounds[below]?.map(cpu) ?? []);
}

/** Makes the table of one case. */
export function reportCase(
  title: string,
  contestants: readonly Contestant[],
  rounds: Rounds,
): Table {
  return {
    title,
    columns: [
      "",
      "requests/s",
      "CPU µs",
      "user",
      "system",
      "floor/it",
      "min..max",
      "it/ours",
      "min..max",
      "p50 ms",
      "p99 ms",
    ],
    rows: contestants.map(({ name }) => {
      const turns = rounds[name] ?? [];
      const ofFloor = over(rounds, FLOOR, name);
      const toOurs = over(rounds, name, OURS);
      return [
        name,
        middle(turns.map(rate), 0),
        middle(turns.map(cpu), 1),
        middle(turns.map(({ user }) => user), 1),
        middle(turns.map(({ system }) => system), 1),
        middle(ofFloor),
        spread(ofFloor),
        middle(toOurs),
        spread(toOurs),
        middle(turns.map(({ p50 }) => p50)),
        middle(turns.map(({ p99 }) => p99)),
      ];
    }),
    raw: rounds,
  };
}

/** Makes the table of a runtime: every ratio that has a target, in every case. */
export function reportRuntime(
  runtime: string,
  contestants: readonly Contestant[],
  cases: readonly CaseRounds[],
): Table {
  function row(
    name: string,
    key: keyof Targets,
    above: string,
    below: string,
  ): string[] {
    const cells = cases.map(({ work, rounds }) =>
      judged(over(rounds, above, below), work.targets[key])
    );
    return [name, ...cells];
  }
  return {
    title: `${runtime}: ratios by processor time`,
    columns: ["", ...cases.map(({ work }) => work.name)],
    rows: contestants.filter(({ name }) => name !== OURS)
      .map(({ name, kind }) => {
        switch (kind) {
          case "floor":
            return row("floor/ours", "floor", FLOOR, OURS);
          case "standalone":
            return row(`ours/${name}`, "standalone", OURS, name);
          case "fields":
            return row(`${name}/ours`, "fields", name, OURS);
          default:
            return row(`${name}/ours`, "asIs", name, OURS);
        }
      }),
    note:
      "Medians of the ratios inside each round; more is better for ours. A ratio below its target stands beside it.",
  };
}
