/**
 * A storage of one size in a process of its own, as it would be in service: fills it, then takes one
 * turn for each line of standard input, which names the work, until its input ends. The part `sizes`
 * starts it.
 *
 * @module
 */

import process from "node:process";
import { createInterface } from "node:readline";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { readTask } from "../in_runtime.ts";
import type { Turn } from "../turns.ts";
import { speedometer, waiting } from "../way.ts";
import { filledPostgres, filledSqlite } from "./filled.ts";
import { type MemoryUse, weighedMemory } from "./weighed_memory.ts";
import { worksOf } from "./works.ts";

/** What this program is given. */
export interface SizeTask {
  readonly kind: "memory" | "sqlite" | "postgres";
  readonly animals: number;
  /** Of an SQLite file that is not there, or of an empty PostgreSQL database. */
  readonly address?: string;
  /** How long a turn is, in seconds. */
  readonly turnTime: number;
}

/** What this program writes first, on a line. A speed for each turn follows. */
export interface Ready {
  readonly works: readonly string[];
  readonly use?: MemoryUse | undefined;
}

interface Filled {
  readonly storage: PetStorage;
  readonly use?: MemoryUse | undefined;
}

async function fill(
  { kind, animals, address = "" }: SizeTask,
): Promise<Filled> {
  switch (kind) {
    case "memory":
      return await weighedMemory(animals);
    case "sqlite":
      return { storage: await filledSqlite(address, animals) };
    case "postgres":
      return { storage: await filledPostgres(address, animals) };
  }
}

async function main(task: SizeTask): Promise<void> {
  const { storage, use } = await fill(task);
  const turns = new Map<string, Turn>();
  for (const [name, work] of Object.entries(worksOf(storage, task.animals))) {
    turns.set(name, speedometer(waiting(work), 1, task.turnTime));
  }
  const ready: Ready = { works: [...turns.keys()], use };
  console.log(JSON.stringify(ready));
  for await (const name of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await turns.get(name)?.()));
  }
  await storage.close();
}

await main(readTask<SizeTask>(process.argv));
