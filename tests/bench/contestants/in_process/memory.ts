/**
 * `memoryStorage` with so many pets: the memory that each takes, and the time of reads.
 *
 * @module
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { memoryStorage } from "../../../../mod.ts";
import { serveTasks } from "../../reply.ts";
import { numberedPet } from "./bare.ts";
import { microseconds } from "./compare.ts";

type Id = Parameters<ReturnType<typeof memoryStorage>["get"]>[0];

const { gc, Bun } = globalThis as unknown as {
  readonly gc?: () => void;
  readonly Bun?: { gc(force: boolean): void };
};

async function settledMemory(): Promise<number> {
  for (let times = 0; times < 2; times++) {
    if (Bun === undefined) gc?.();
    else Bun.gc(true);
    await delay(1000); // a runtime gives memory back little by little
  }
  return process.memoryUsage().rss;
}

await serveTasks(async (pets: number) => {
  const before = await settledMemory();
  const storage = memoryStorage();
  for (let i = 0; i < pets; i++) {
    const { name, ...rest } = numberedPet(i);
    // A text in one piece, as it comes out of a request. A template leaves it in two.
    await storage.create({ ...rest, name: JSON.parse(`"${name}"`) });
    if (i % 1000 === 0) await delay(0); // as a server does between requests
  }
  for (let after = 0; after < pets; after += 100) {
    await storage.list({ limit: 100, after: BigInt(after) });
  }
  const after = await settledMemory();
  const id = (i: number) => BigInt((i * 7919) % pets + 1) as Id;
  const bytes = (after - before) / pets;
  const get = await microseconds((i) => storage.get(id(i)), 0.3);
  const query = (i: number) => ({ limit: 20, after: id(i) });
  const list = await microseconds((i) => storage.list(query(i)), 0.3);
  return [pets.toFixed(0), bytes.toFixed(0), get.toFixed(2), list.toFixed(2)];
});
