/**
 * `memoryStorage` with a known number of animals, and the memory that they take.
 *
 * @module
 */

import process from "node:process";
import {
  setImmediate as nextTurn,
  setTimeout as delay,
} from "node:timers/promises";
import { memoryStorage } from "../../../adapters/memory/mod.ts";
import { jsonOf, type PetStorage } from "../../../core/pets/pet_storage.ts";
import { statusOf } from "./status.ts";

/** What an animal takes, in bytes, once it was listed. */
export interface MemoryUse {
  /** Of the resident set. */
  readonly resident: number;
  /** Of the heap, as the runtime counts it. */
  readonly heap: number;
}

/** A storage, and what its animals take. */
export interface WeighedMemory {
  readonly storage: PetStorage;
  /** `undefined` where they are too few beside what the runtime itself takes and gives back. */
  readonly use: MemoryUse | undefined;
}

const LEAST_TO_WEIGH = 1_000_000;
const WARM_UP = 200_000;
/** After a collection a runtime gives memory back little by little. */
const SETTLING_TIME = 1000; // ms

const { gc, Bun } = globalThis as unknown as {
  readonly gc?: () => void;
  readonly Bun?: { gc(force: boolean): void };
};

/** Fills a storage and weighs it. */
export async function weighedMemory(animals: number): Promise<WeighedMemory> {
  if (animals < LEAST_TO_WEIGH) {
    return { storage: await filledMemory(animals), use: undefined };
  }
  // What the runtime takes for its own work is no animal's.
  const first = await filledMemory(WARM_UP);
  await readAll(first);
  await first.close();
  const before = await settledMemory();
  const storage = await filledMemory(animals);
  await readAll(storage);
  const after = await settledMemory();
  const use = {
    resident: Math.round((after.rss - before.rss) / animals),
    heap: Math.round((after.heapUsed - before.heapUsed) / animals),
  };
  return { storage, use };
}

async function filledMemory(animals: number): Promise<PetStorage> {
  const storage = memoryStorage();
  for (let n = 1; n <= animals; n++) {
    await storage.create({
      // Its own text, in one piece, as it comes out of a request. A template would leave it in two.
      name: JSON.parse(`"Pet number ${n}"`),
      categoryId: BigInt(n),
      status: statusOf(n, animals),
    });
    // As a server does between requests.
    if (n % 1000 === 0) await nextTurn();
  }
  return storage;
}

/** Has a storage keep all that it keeps: the text of every animal too. */
async function readAll({ list }: PetStorage): Promise<void> {
  const json = jsonOf(list);
  if (json === undefined) throw new TypeError("It keeps no text");
  for (let after = 0n;;) {
    const { last } = await json({ limit: 1000, after });
    if (last === undefined) return;
    after = last;
    await nextTurn();
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
