/** The memory and the time that a server uses, in proportion to itself: absolute bounds fail on some machines. */

import assert from "node:assert/strict";
import { median } from "../bench/figures.ts";
import { Wire } from "../../contract/wire.ts";
import type { Runtime } from "../../support/runtime.ts";
import { QUIET, type RunningServer } from "../../support/standalone.ts";
import { until } from "../../support/time.ts";
import { rawRequest } from "../../support/wire.ts";

/** Settings of a quiet server that collects its garbage at SIGUSR2 on Node, where it is late by 100 MB. */
export const WATCHED: Readonly<Record<string, string>> = {
  ...QUIET,
  NODE_OPTIONS:
    "--expose-gc --import=data:text/javascript,process.on('SIGUSR2',()=>gc())",
};

/** So many ms long a server at rest uses less than a tenth of a processor. */
const REST = 200;

/** Waits until a server has nothing left to do. */
export async function untilAtRest(
  { processorTime }: RunningServer,
): Promise<void> {
  let used = processorTime();
  let since = performance.now();
  await until("the server is at rest", () => {
    const now = processorTime();
    if (now - used > REST / 10) {
      used = now;
      since = performance.now();
    }
    return performance.now() - since >= REST;
  }, 120_000);
}

/** The memory that a {@linkcode WATCHED} server keeps once it has nothing left to do, in bytes. */
export async function memoryAtRest(
  server: RunningServer,
  { name }: Pick<Runtime, "name">,
): Promise<number> {
  await untilAtRest(server);
  if (name === "node") server.kill("SIGUSR2");
  await untilAtRest(server);
  return server.memory();
}

/** So many requests measure the time of one. */
const MEASURED = 2000;

/** The processor time of a request, in ms, which other programs do not lengthen. */
export async function timeOfRequest(
  { port, processorTime }: RunningServer,
): Promise<number> {
  const wire = await Wire.open(port);
  const before = processorTime();
  for (let i = 0; i < MEASURED; i++) {
    wire.write(rawRequest("GET /livez"));
    assert.equal((await wire.answer()).status, 200);
  }
  wire.close();
  return (processorTime() - before) / MEASURED;
}

/** The last so many readings count. */
const WINDOW = 12;
/** A runtime takes memory at first, and now and then more at once; a leak goes on. */
const MOST_READINGS = 36;
/** The share of the least reading by which a later one may be higher than the one before it. */
const MOST_GROWTH = 0.01;

/** Reads the memory until it has stopped growing, and returns what was read; fails if it goes on growing. */
export async function assertNoLeak(
  read: () => Promise<number>,
): Promise<readonly number[]> {
  const readings: number[] = [];
  while (readings.length < MOST_READINGS) {
    readings.push(await read());
    const last = readings.slice(-WINDOW);
    const isFlat = growth(last) < MOST_GROWTH * Math.min(...readings);
    if (last.length === WINDOW && isFlat) return readings;
  }
  assert.fail(`the memory grows: ${readings.map(megabytes).join(", ")} MB`);
}

/** The median of the slopes between any two readings: one leap, up or down, changes it little. */
function growth(readings: readonly number[]): number {
  return median(
    readings.flatMap((to, j) =>
      readings.slice(0, j).map((from, i) => (to - from) / (j - i))
    ),
  );
}

/** For messages. */
export function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
