/**
 * A process that uses an SQLite file as the lines on its standard input say, for tests that need
 * several processes or one that can be killed.
 *
 * - `open PATH [LOCK_TIMEOUT]`: answers `opened`.
 * - `open-many PATH COUNT`: opens it at once so many times, creates a pet with each, closes all;
 *   answers `opened`.
 * - `create COUNT WRITERS`: creates so many animals (`Infinity` is a number too) with so many under
 *   way at once; answers `created ID NAME` or `failed KIND MESSAGE` for each, and `done`.
 * - `issue NAME`: answers `issued ID NAME`. `revoke ID`: answers `revoked ID`.
 * - `ping`: answers `well`. `close`: answers `closed`.
 *
 * A command that fails answers `failed KIND MESSAGE`.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import {
  type PetDatabase,
  sqliteStorage,
} from "../../../adapters/storage/sqlite/mod.ts";
import { checkNewPet } from "../../../core/pets/new_pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";

let storage: PetDatabase | undefined;

for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", ...args] = line.split(" ");
  try {
    await run(command, args);
  } catch (error) {
    answer(failure(error));
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const [first = "", second = ""] = args;
  if (command === "open") {
    const lockTimeout = second === "" ? {} : { lockTimeout: Number(second) };
    storage = await sqliteStorage(first, lockTimeout);
    answer("opened");
  } else if (command === "open-many") {
    await openMany(first, Number(second));
    answer("opened");
  } else if (command === "create") {
    await create(Number(first), Number(second));
    answer("done");
  } else if (command === "issue") {
    const key = { name: first, digest: first.padStart(64, "0") };
    const record = { ...key, created: new Date() };
    const issued = await storage?.apiKeys.insert(record);
    answer(`issued ${issued?.id} ${first}`);
  } else if (command === "revoke") {
    const revoked = await storage?.apiKeys.revoke(Number(first), new Date());
    answer(`revoked ${revoked?.id}`);
  } else if (command === "ping") {
    await storage?.ping();
    answer("well");
  } else if (command === "close") {
    await storage?.close();
    answer("closed");
  } else {
    throw new RangeError(`No such command: ${command}`);
  }
}

async function openMany(path: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => {
    const storage = await sqliteStorage(path);
    await storage.create(
      checkNewPet({ name: "Rex", categoryId: 1n, status: "sold" }),
    );
    await storage.close();
  }));
}

async function create(count: number, writers: number): Promise<void> {
  let started = 0;
  await Promise.all(Array.from({ length: writers }, async () => {
    while (started < count) {
      const name = `${process.pid}-${++started}`;
      try {
        const newPet = checkNewPet({ name, categoryId: 1n });
        const pet = await storage?.create(newPet);
        answer(`created ${pet?.id} ${pet?.name}`);
      } catch (error) {
        answer(failure(error));
      }
    }
  }));
}

function failure(error: unknown): string {
  const kind = error instanceof StorageError ? error.kind : "unexpected";
  return `failed ${kind} ${error instanceof Error ? error.message : error}`;
}

// On Linux a write to a pipe is done when this returns: what was answered is known outside.
function answer(line: string): void {
  process.stdout.write(`${line}\n`);
}
