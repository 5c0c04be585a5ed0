import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { d1Storage } from "../../../adapters/storage/d1/mod.ts";
import { TABLES } from "../../../adapters/storage/sqlite_tables.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { onPrepare } from "../../support/sqlite.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";
import { imitation } from "./d1/imitation.ts";

const newPath = temporaryFiles();

// A plan that scans, sorts or has an OFFSET reads more rows the further down the page is.
const SEARCHES = [
  "SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)",
  "SEARCH pets USING INDEX pets_by_status (status=? AND id>?)",
];

const storages = {
  SQLite: () => sqliteStorage(newPath()),
  D1: async () => d1Storage(imitation()),
};
for (const [name, open] of Object.entries(storages)) {
  test(`a page costs the same at any depth in ${name}: an index finds its first pet`, async (t) => {
    const prepared = new Set<string>();
    const storage = await open();
    await storage.ping(); // D1's tables are made now
    onPrepare(t, (sql, prepare) => {
      prepared.add(sql);
      return prepare(sql);
    });
    await storage.list({ limit: 7, after: 5n });
    await storage.list({ limit: 8, after: 5n, status: "sold" });
    await storage.close();
    const searches = [...prepared];
    const db = new DatabaseSync(":memory:");
    for (const sql of TABLES) db.exec(sql);
    const plans = searches.flatMap((sql) =>
      db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map(({ detail }) => detail)
    );
    db.close();
    assert.deepEqual([...new Set(plans)], SEARCHES);
  });
}
