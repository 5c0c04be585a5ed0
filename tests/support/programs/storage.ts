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
 * - `ping`: answers `well`. `close`: answers `closed`. `saved`: answers `saved` if it closed itself.
 *
 * A command that fails answers `failed KIND MESSAGE`.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import {
  type PetDatabase,
  sqliteStorage,
} from "../../../adapters/storage/sqlite/mod.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../pets.ts";

let storage: PetDatabase | undefined;
/** True once the storage has closed itself. */
let hasEnded = false;

const COMMANDS: Readonly<
  Record<string, (first: string, second?: string) => Promise<string>>
> = {
  async open(path, lockTimeout) {
    const options = lockTimeout === undefined
      ? {}
      : { lockTimeout: Number(lockTimeout) };
    storage = await sqliteStorage(path, options);
    hasEnded = false;
    storage.ended?.then(() => hasEnded = true);
    return "opened";
  },
  async "open-many"(path, count) {
    await Promise.all(Array.from({ length: Number(count) }, async () => {
      const storage = await sqliteStorage(path);
      await storage.create(REX);
      await storage.close();
    }));
    return "opened";
  },
  async create(count, writers) {
    let started = 0;
    await Promise.all(Array.from({ length: Number(writers) }, async () => {
      while (started < Number(count)) {
        const pet = newPet({ ...REX, name: `${process.pid}-${++started}` });
        const created = storage?.create(pet);
        answer(
          await created?.then(
            ({ id, name }) => `created ${id} ${name}`,
            failure,
          ),
        );
      }
    }));
    return "done";
  },
  async issue(name) {
    const digest = name.padStart(64, "0");
    const record = { name, digest, created: new Date() };
    return `issued ${(await storage?.apiKeys.insert(record))?.id} ${name}`;
  },
  async revoke(id) {
    const revoked = await storage?.apiKeys.revoke(Number(id), new Date());
    return `revoked ${revoked?.id}`;
  },
  async ping() {
    await storage?.ping();
    return "well";
  },
  async saved() {
    return hasEnded ? "saved" : "open";
  },
  async close() {
    await storage?.close();
    return "closed";
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  // The first argument may be a path with spaces, the second one is a number.
  const [, command = "", first = "", second] =
    /^(\S+)(?: (.*?))?(?: (\d+))?$/.exec(line) ?? [];
  answer(await COMMANDS[command]?.(first, second).catch(failure));
}

function failure(error: unknown): string {
  const kind = error instanceof StorageError ? error.kind : "unexpected";
  return `failed ${kind} ${error instanceof Error ? error.message : error}`;
}

// On Linux a write to a pipe is done when this returns: what was answered is known outside.
function answer(line: string | undefined): void {
  process.stdout.write(`${line}\n`);
}
