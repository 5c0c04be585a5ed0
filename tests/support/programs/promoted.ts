/**
 * Prints how many bytes of a page V8 moves to its old objects, on average: `promoted.ts DATABASE
 * CALLERS`. The callers ask for different pages at the same time.
 */

import process from "node:process";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { REX } from "../pets.ts";

const [, , database = "", callers = ""] = process.argv;
const open = database.startsWith("postgres") ? postgresStorage : sqliteStorage;
const storage = await open(database);

async function read(pages: number): Promise<void> {
  for (let page = 0; page < pages; page += Number(callers)) {
    await Promise.all(
      Array.from(
        { length: Number(callers) },
        (_, i) => storage.list({ limit: 20, after: BigInt(i) }),
      ),
    );
  }
}

function sizeOfOld(): number {
  const isOld = (space: { space_name: string }) =>
    space.space_name === "old_space";
  return getHeapSpaceStatistics().find(isOld)?.space_used_size ?? NaN;
}

await Promise.all(Array.from({ length: 100 }, () => storage.create(REX)));
await read(1000);
setFlagsFromString("--expose-gc");
runInNewContext("gc")();
const before = sizeOfOld();
await read(2000);
process.stdout.write(`${(sizeOfOld() - before) / 2000}\n`);
await storage.close();
