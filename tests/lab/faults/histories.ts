/** Runs pet stores during faults, and checks the history of their answers. */

import assert from "node:assert/strict";
import process from "node:process";
import { assertConsistent, type Operation } from "./checker.ts";
import { isAdded, Recorder } from "./recorder.ts";
import type { Place, Topology } from "./topologies.ts";
import { inNewFolder } from "../../support/temporary_directory.ts";

/** The number of pets that are added between two faults. */
const ENOUGH = 50;

/** Settings of {@linkcode runHistory}. */
export interface HistoryOptions {
  /** The names of the faults, which come one after the other; again and again for so many ms. */
  readonly faults?: (name: string) => boolean;
  readonly duration?: number;
  /** `main.ts` of a mutant. */
  readonly main?: string;
}

/** Runs pet stores and breaks them; throws if their answers contradict each other. */
export async function runHistory(
  topology: Topology,
  { faults: isChosen = () => true, duration = 0, main }: HistoryOptions = {},
): Promise<void> {
  const seed = Number(process.env.LAWS_SEED ?? Date.now() % 2 ** 31);
  await inNewFolder(async (cwd) => {
    const ends: (() => unknown)[] = [];
    try {
      const options = { cwd, ...main !== undefined && { main } };
      const place = await topology.start(options, (end) => ends.unshift(end));
      await judge(place);
      await Promise.all(place.servers.map((server) => server.stop()));
    } finally {
      for (const end of ends) await end();
    }
  });

  async function judge(
    { servers, keys, faults, longest }: Place,
  ): Promise<void> {
    const recorder = new Recorder(servers, keys, randomOf(seed));
    const recoveries: number[] = [];
    const chosen = Object.entries(faults).filter(([name]) => isChosen(name));
    const end = performance.now() + duration;
    const told: string[] = [];
    const note = (): string =>
      `${topology.name}, seed ${seed}, after ${told.join("; ")}`;
    let fault: unknown;
    try {
      do {
        for (const [name, breakIt] of chosen) {
          told.push(name);
          await recorder.more(ENOUGH);
          await breakIt(recorder);
          const since = performance.now();
          await recorder.until(isAdded);
          recoveries.push(Math.round(performance.now() - since));
        }
        await recorder.more(ENOUGH);
        if (main !== undefined) assertConsistent(recorder.history, note());
      } while (performance.now() < end);
      await recorder.stop();
    } catch (cause) {
      fault = cause;
      // A history that ends too early may contradict itself for this alone.
      console.error(note(), cause);
    }
    recorder.abandon();
    assertConsistent(recorder.history, note());
    if (fault !== undefined) throw new Error(note(), { cause: fault });
    console.log(
      `${topology.name}: ${recorder.history.length} operations, ` +
        `${recoveries.length} faults, no contradictions; ` +
        `pets are added again after ${recoveries} ms; ` +
        `none is added for at most ${longestGaps(recorder.history)} ms`,
    );
    const slowest = recorder.longest;
    assert.ok(slowest < longest, `an answer took ${slowest} ms`);
  }
}

/** The longest times between two pets that are added, at any server and at each, in ms. */
function longestGaps(history: readonly Operation[]): string {
  const added = history.filter(isAdded);
  const servers = Map.groupBy(added, ({ server }) => server);
  return [["any", added] as const, ...servers].map(([name, creates]) => {
    const ends = creates.map(({ end }) => end).sort((a, b) => a - b);
    const gaps = ends.map((end, i) => end - (ends[i - 1] ?? end));
    return `${name} ${Math.round(Math.max(...gaps))}`;
  }).join(", ");
}

/** The integers of a seed, each from 0 to `below` - 1 (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
