/**
 * `sqliteStorage` at several sizes, on the runtime that runs this. The part `sizes` starts it.
 *
 * @module
 */

import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { sqliteStorage } from "../../adapters/storage/sqlite.ts";
import { readTask } from "../in_runtime.ts";
import { statusSql } from "./status.ts";
import { type Sized, sweep, type SweepOptions } from "./sweep.ts";

/** What this program is given. */
export interface SqliteSizesTask extends SweepOptions {
  /** How many animals, ascending. */
  readonly sizes: readonly number[];
  /** For the files. */
  readonly folder: string;
}

/** The most animals that are added in one transaction. */
const PORTION = 1_000_000;

async function main(task: SqliteSizesTask): Promise<void> {
  const { sizes, folder, ...options } = task;
  const storages: Sized[] = [];
  for (const animals of sizes) {
    const path = join(folder, `${animals}.db`);
    await (await sqliteStorage(path)).close();
    fill(path, animals);
    storages.push({ animals, storage: await sqliteStorage(path) });
  }
  console.log(JSON.stringify(await sweep(storages, options)));
  for (const { storage } of storages) await storage.close();
}

/** Adds animals by SQL of its own: millions of creates would take minutes. */
function fill(path: string, animals: number): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous = OFF");
  for (let first = 1; first <= animals; first += PORTION) {
    const last = Math.min(animals, first + PORTION - 1);
    db.exec(
      `WITH RECURSIVE numbers (n) AS (
         VALUES (${first}) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last}
       )
       INSERT INTO pets (name, category_id, status)
       SELECT 'Pet number ' || n, n, ${statusSql(animals)} FROM numbers`,
    );
  }
  db.close();
}

await main(readTask<SqliteSizesTask>(process.argv));
