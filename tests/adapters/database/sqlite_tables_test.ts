import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { type D1Statement, d1Storage } from "../../../adapters/d1/mod.ts";
import { TABLES } from "../../../adapters/database/sqlite_tables.ts";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";

const newPath = temporaryFiles();

test("every table is STRICT: SQLite refuses a value of another type", () => {
  const db = new DatabaseSync(":memory:");
  for (const sql of TABLES) db.exec(sql);
  const tables = db.prepare(
    "SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite%'",
  ).all().map(({ name, strict }) => [name, strict]).sort();
  assert.deepEqual(tables, [
    ["api_keys", 1],
    ["idempotency_keys", 1],
    ["pets", 1],
  ]);
  db.close();
});

/** Says how SQLite finds the rows of a page of any status, and of one. */
async function plansOf(
  storage: PetStorage,
  prepared: string[],
): Promise<readonly unknown[]> {
  const db = new DatabaseSync(":memory:");
  for (const sql of TABLES) db.exec(sql);
  prepared.length = 0;
  await storage.list({ limit: 7, after: 5n });
  await storage.list({ limit: 8, after: 5n, status: "sold" });
  await storage.close();
  const plans = [...new Set(prepared)].flatMap((sql) =>
    db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map(({ detail }) => detail)
  );
  db.close();
  return [...new Set(plans)];
}

// A plan that scans, sorts or has an OFFSET reads more rows the further down the page is.
const SEARCHES = [
  "SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)",
  "SEARCH pets USING INDEX pets_by_status (status=? AND id>?)",
];

test("a page costs the same at any depth in SQLite: an index finds its first pet, and the others follow", async () => {
  const prepared: string[] = [];
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql, ...rest) {
    if (!sql.startsWith("EXPLAIN")) prepared.push(sql);
    return prepare.call(this, sql, ...rest);
  };
  try {
    const storage = await sqliteStorage(newPath());
    assert.deepEqual(await plansOf(storage, prepared), SEARCHES);
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
});

test("a page costs the same at any depth in D1: an index finds its first pet, and the others follow", async () => {
  const prepared: string[] = [];
  const storage = d1Storage({
    prepare(sql) {
      prepared.push(sql);
      const statement: D1Statement = { bind: () => statement };
      return statement;
    },
    batch: async (statements) => statements.map(() => ({ results: [] })),
  });
  assert.deepEqual(await plansOf(storage, prepared), SEARCHES);
});
