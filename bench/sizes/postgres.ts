/**
 * `postgresStorage` at several sizes, on the runtime that runs this. The part `sizes` starts it.
 *
 * @module
 */

import process from "node:process";
import { postgresStorage } from "../../adapters/storage/postgres.ts";
import { runSql } from "../../tests/postgres/sql.ts";
import { readTask } from "../in_runtime.ts";
import { statusSql } from "./status.ts";
import { type Sized, sweep, type SweepOptions } from "./sweep.ts";

/** What this program is given. */
export interface PostgresSizesTask extends SweepOptions {
  /** How many animals, ascending, and a database of its own for each. */
  readonly databases: readonly {
    readonly animals: number;
    readonly url: string;
  }[];
}

async function main(task: PostgresSizesTask): Promise<void> {
  const { databases, ...options } = task;
  const storages: Sized[] = [];
  for (const { animals, url } of databases) {
    const storage = await postgresStorage(url);
    await fill(url, animals);
    storages.push({ animals, storage });
  }
  console.log(JSON.stringify(await sweep(storages, options)));
  for (const { storage } of storages) await storage.close();
}

/** Adds animals by SQL of its own: millions of creates would take minutes. */
async function fill(url: string, animals: number): Promise<void> {
  await runSql(
    url,
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Pet number ' || n, n, ${statusSql(animals)}
     FROM generate_series(1, ${animals}) AS numbers (n)`,
  );
  // As PostgreSQL does by itself within minutes.
  await runSql(url, "VACUUM ANALYZE pets");
}

await main(readTask<PostgresSizesTask>(process.argv));
