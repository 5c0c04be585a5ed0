/** Runs pet stores during faults, and checks the history of their answers. */

import assert from "node:assert/strict";
import process from "node:process";
import type { TestContext } from "node:test";
import { assertConsistent } from "./checker.ts";
import { isAdded, Recorder } from "./recorder.ts";
import type { Topology } from "./topologies.ts";
import { randomFrom } from "../../contract/values.ts";
import { newFolder } from "../../support/temporary_directory.ts";

/** The number of pets that are added between two faults. */
const ENOUGH = 50;

/** Runs pet stores and breaks them; throws if their answers contradict each other. */
export async function runHistory(
  t: TestContext,
  topology: Topology,
  { faults: chosen, duration = 0, main }: {
    /** The names of the faults, which come one after the other. Default: all. */
    readonly faults?: readonly string[];
    /** They come again and again for so many ms. Default: once. */
    readonly duration?: number;
    /** `main.ts` of a mutant. */
    readonly main?: string;
  } = {},
): Promise<void> {
  const seed = Number(process.env.LAWS_SEED ?? Date.now() % 2 ** 31);
  const options = { cwd: newFolder(t), ...main !== undefined && { main } };
  const { servers, keys, faults, longest } = await topology.start(t, options);
  const recorder = new Recorder(servers, keys, randomFrom(seed));
  const recoveries: number[] = [];
  const end = performance.now() + duration;
  const told: string[] = [];
  const note = (): string =>
    `${topology.name}, seed ${seed}, after ${told.join("; ")}`;
  let fault: unknown;
  try {
    do {
      for (const name of chosen ?? Object.keys(faults)) {
        const breakIt = faults[name] ?? assert.fail(`no fault is ${name}`);
        told.push(`${name} (from ${performance.now().toFixed()} ms on)`);
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
      `pets are added again after ${recoveries} ms`,
  );
  const slowest = recorder.longest;
  assert.ok(slowest < longest, `an answer took ${slowest} ms`);
  await Promise.all(servers.map((server) => server.stop()));
}
