/**
 * `memoryStorage` at several sizes, and the memory that an animal takes, on the runtime that runs this.
 * The part `sizes` starts it.
 *
 * @module
 */

import process from "node:process";
import {
  setImmediate as nextTurn,
  setTimeout as delay,
} from "node:timers/promises";
import { memoryStorage } from "../../adapters/storage/memory.ts";
import type { PetStorage } from "../../core/pet_storage.ts";
import { readTask } from "../in_runtime.ts";
import { statusOf } from "./status.ts";
import {
  type Sized,
  sweep,
  type SweepOptions,
  type SweepRow,
} from "./sweep.ts";

/** What this program is given. */
export interface MemoryTask extends SweepOptions {
  /** How many animals, ascending. */
  readonly sizes: readonly number[];
}

/** What an animal takes, in bytes, where there are so many. */
export interface MemoryUse {
  readonly animals: number;
  /** Of the resident set. */
  readonly resident: number;
  /** Of the heap, as the runtime counts it. */
  readonly heap: number;
}

/** What this program writes. */
export interface MemoryResult {
  readonly rows: readonly SweepRow[];
  readonly uses: readonly MemoryUse[];
}

/** Fewer take too little beside what the runtime itself takes and gives back. */
const LEAST_TO_WEIGH = 1_000_000;
const WARM_UP = 200_000;
/** After a collection a runtime gives memory back little by little. */
const SETTLING_TIME = 1000; // ms

const { gc, Bun } = globalThis as unknown as {
  readonly gc?: () => void;
  readonly Bun?: { gc(force: boolean): void };
};

async function main({ sizes, ...options }: MemoryTask): Promise<void> {
  const uses = await weigh(sizes.filter((size) => size >= LEAST_TO_WEIGH));
  const storages: Sized[] = [];
  for (const animals of sizes) {
    const storage = memoryStorage();
    await fill(storage, 1, animals, animals);
    storages.push({ animals, storage });
  }
  const rows = await sweep(storages, options);
  const result: MemoryResult = { rows, uses };
  console.log(JSON.stringify(result));
}

/** Weighs one storage at several sizes, and lets go of it. */
async function weigh(sizes: readonly number[]): Promise<readonly MemoryUse[]> {
  const largest = sizes.at(-1);
  if (largest === undefined) return [];
  // What the runtime takes for its own work is no animal's.
  const first = memoryStorage();
  await fill(first, 1, WARM_UP, WARM_UP);
  await first.close();
  const before = await settledMemory();
  const uses: MemoryUse[] = [];
  const storage = memoryStorage();
  let there = 0;
  for (const animals of sizes) {
    await fill(storage, there + 1, animals, largest);
    there = animals;
    const after = await settledMemory();
    uses.push({
      animals,
      resident: Math.round((after.rss - before.rss) / animals),
      heap: Math.round((after.heapUsed - before.heapUsed) / animals),
    });
  }
  await storage.close();
  return uses;
}

/** Adds the animals from number `first` to number `last`. */
async function fill(
  storage: PetStorage,
  first: number,
  last: number,
  animals: number,
): Promise<void> {
  for (let n = first; n <= last; n++) {
    await storage.create({
      // Its own text, in one piece, as it comes out of a request. A template would leave it in two.
      name: JSON.parse(`"Pet number ${n}"`),
      categoryId: BigInt(n),
      status: statusOf(n, animals),
    });
    // As a server does between requests.
    if (n % 1000 === 0) await nextTurn();
  }
}

async function settledMemory(): Promise<NodeJS.MemoryUsage> {
  for (let times = 0; times < 2; times++) {
    if (Bun === undefined) gc?.();
    else Bun.gc(true);
    await delay(SETTLING_TIME);
  }
  return process.memoryUsage();
}

await main(readTask<MemoryTask>(process.argv));
