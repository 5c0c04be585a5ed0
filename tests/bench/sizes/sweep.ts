/**
 * The same reads on storages of different sizes, by turns.
 *
 * @module
 */

import type { Runtime } from "../http/runtimes.ts";
import { inTurns, middleHalf, ratios, roundedMedian } from "../turns.ts";
import { type SizedProcess, startSized } from "./sized_process.ts";
import type { SizeTask } from "./turns.ts";
import type { MemoryUse } from "./weighed_memory.ts";

/** How long everything takes. */
export interface SweepOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** What is measured of one storage, from the smallest size to the largest. */
export interface Sweep {
  readonly rows: readonly SweepRow[];
  /** What an animal takes in memory, by the number of animals. */
  readonly uses: ReadonlyMap<number, MemoryUse>;
}

/** The figures of one work: µs at each size, and the largest over the smallest. */
export interface SweepRow {
  readonly work: string;
  readonly microseconds: readonly number[];
  readonly growth: number;
  readonly spread: string;
}

const SHARE_OF_TURN = 0.05;
const WARM_UP = 3;

/** Starts a process for each size, and measures every work in all of them. */
export async function sweep(
  runtime: Runtime,
  tasks: readonly Omit<SizeTask, "turnTime">[],
  { rounds, seconds }: SweepOptions,
): Promise<Sweep> {
  const processes: SizedProcess[] = [];
  try {
    for (const task of tasks) {
      const turnTime = seconds * SHARE_OF_TURN;
      processes.push(await startSized(runtime, { ...task, turnTime }));
    }
    const rows: SweepRow[] = [];
    for (const work of processes[0]?.works ?? []) {
      rows.push(await measure(processes, work, rounds));
    }
    const uses = new Map<number, MemoryUse>();
    for (const { animals, use } of processes) {
      if (use !== undefined) uses.set(animals, use);
    }
    return { rows, uses };
  } finally {
    await Promise.all(processes.map((process) => process.stop()));
  }
}

async function measure(
  processes: readonly SizedProcess[],
  work: string,
  rounds: number,
): Promise<SweepRow> {
  const speeds = await inTurns(
    Object.fromEntries(processes.map((process) => [
      `${process.animals} animals`, // not a bare number: those are kept in another order
      () => process.turn(work),
    ])),
    { rounds, warmUp: WARM_UP },
  );
  const all = Object.values(speeds);
  const growths = ratios(all[0] ?? [], all.at(-1) ?? []);
  return {
    work,
    microseconds: all.map((of) =>
      roundedMedian(of.map((speed) => 1e6 / speed))
    ),
    growth: roundedMedian(growths),
    spread: middleHalf(growths),
  };
}
