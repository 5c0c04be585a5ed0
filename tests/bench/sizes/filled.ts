/**
 * Storages with a known number of animals, of `statusOf`.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { numberedPet } from "../sample_pets.ts";
import { statusSql } from "./status.ts";

/** The most animals that are added in one transaction. */
const PORTION = 1_000_000;

/** Makes an SQLite file, fills it by SQL of its own, and opens it. */
export async function filledSqlite(
  path: string,
  animals: number,
): Promise<PetStorage> {
  await (await sqliteStorage(path)).close();
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
  const storage = await sqliteStorage(path);
  // SQLite reads a file faster once something was written to it.
  await storage.create(numberedPet(0));
  return storage;
}

/** Fills an empty PostgreSQL database by SQL of its own, and opens it. */
export async function filledPostgres(
  url: string,
  animals: number,
): Promise<PetStorage> {
  const storage = await postgresStorage(url);
  await runSql(
    url,
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Pet number ' || n, n, ${statusSql(animals)}
     FROM generate_series(1, ${animals}) AS numbers (n)`,
  );
  // As PostgreSQL does by itself within minutes.
  await runSql(url, "VACUUM ANALYZE pets");
  return storage;
}
