/**
 * `sqliteStorage` beside a bare loop of `node:sqlite`, on the runtime that runs this. The part `storage`
 * starts it.
 *
 * @module
 */

import { join } from "node:path";
import process from "node:process";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { STATUS_CODE } from "../../../adapters/database/stored_row.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { readTask } from "../in_runtime.ts";
import { jumpingId, numberedPet } from "../sample_pets.ts";
import { blocking, waiting } from "../way.ts";
import { barePet, COLUMNS } from "./bare_pet.ts";
import {
  compareAll,
  type Comparison,
  type ComparisonOptions,
} from "./comparison.ts";
import { fill, PETS } from "./fill.ts";

/** What this program is given. */
export interface SqliteTask extends ComparisonOptions {
  /** For the files. */
  readonly folder: string;
}

/** `node:sqlite` as the adapter uses it: prepared once, int64 as bigint, rows as arrays. */
interface BareDriver {
  readonly byId: StatementSync;
  readonly page: StatementSync;
  readonly insert: StatementSync;
  close(): void;
}

async function main({ folder, ...options }: SqliteTask): Promise<void> {
  // Filled in the same way, and both opened anew.
  const storage = await sqliteStorage(await filled(join(folder, "ours.db")));
  const driver = openBare(await filled(join(folder, "bare.db")));
  const all = comparisons(driver, storage);
  // SQLite reads a file faster once something was written to it.
  for (const { bare, ours } of all.filter((each) => each.isWrite)) {
    await bare(1, 1);
    await ours(1, 1);
  }
  const rows = await compareAll(all, options);
  driver.close();
  await storage.close();
  console.log(JSON.stringify(rows));
}

async function filled(path: string): Promise<string> {
  const storage = await sqliteStorage(path);
  await fill(storage);
  await storage.close();
  return path;
}

function comparisons(
  { byId, page, insert }: BareDriver,
  storage: PetStorage,
): readonly Comparison[] {
  const pages = (limit: number, target: number): Comparison => ({
    name: `list of ${limit}`,
    bare: blocking((i) =>
      page.all(1, jumpingId(i, PETS) / 2n, limit).map(barePet)
    ),
    ours: waiting((i) =>
      storage.list({
        limit,
        after: jumpingId(i, PETS) / 2n,
        status: "pending",
      })
    ),
    targets: { 1: target, 16: target, 64: target, 256: target },
  });
  return [
    {
      name: "get",
      bare: blocking((i) => barePet(byId.get(jumpingId(i, PETS)))),
      ours: waiting((i) => storage.get(jumpingId(i, PETS))),
      targets: { 1: 0.9, 16: 0.9, 64: 0.9, 256: 0.9 },
    },
    pages(20, 0.8),
    pages(100, 0.65),
    {
      name: "create",
      bare: blocking((i) => {
        const { name, categoryId, status } = numberedPet(i);
        return insert.run(name, categoryId, STATUS_CODE[status]);
      }),
      ours: waiting((i) => storage.create(numberedPet(i))),
      targets: { 1: 0.8, 64: 15 },
      isWrite: true,
    },
  ];
}

function openBare(path: string): BareDriver {
  const db = new DatabaseSync(path);
  db.prepare("PRAGMA synchronous = FULL").run();
  function prepare(sql: string): StatementSync {
    // Deno 2.9 has the method, and no type for it yet.
    const statement: StatementSync & {
      setReturnArrays?(enabled: boolean): void;
    } = db.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    return statement;
  }
  return {
    byId: prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`),
    page: prepare(
      `SELECT ${COLUMNS} FROM pets
        WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
    ),
    insert: prepare(
      "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)",
    ),
    close: () => db.close(),
  };
}

await main(readTask<SqliteTask>(process.argv));
