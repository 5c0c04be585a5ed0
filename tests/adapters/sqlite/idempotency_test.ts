import assert from "node:assert/strict";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { REX } from "../../support/new_pet.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";
import { tablesContract } from "../database/tables_contract.ts";

const directory = temporaryDirectory();
let files = 0;

function newPath(): string {
  return join(directory, `${++files}.db`);
}

tablesContract("sqliteStorage", async () => {
  const path = newPath();
  return {
    open: (options) => sqliteStorage(path, options),
    async sql(text) {
      const db = new DatabaseSync(path);
      try {
        if (/^(?:pragma user|select)/.test(text)) {
          return Object.values(db.prepare(text).get() ?? {})[0];
        }
        db.exec(text);
      } finally {
        db.close();
      }
    },
  };
}, {
  version: "pragma user_version",
  noTom: `CREATE TRIGGER no_tom BEFORE INSERT ON pets WHEN new.name = 'Tom'
    BEGIN SELECT RAISE(ABORT, 'no_tom'); END`,
});

const skip = process.platform === "win32" && "Windows has no file modes";

test(
  "sqliteStorage makes files that only their owner can read",
  { skip },
  async () => {
    const before = process.umask(0);
    const path = newPath();
    const storage = await sqliteStorage(path);
    process.umask(before);
    await storage.create(REX);
    assert.deepEqual(modes(path), ["600", "600", "600"]);
    await storage.close();
  },
);

test(
  "sqliteStorage leaves the mode of a file that is there",
  { skip },
  async () => {
    const path = newPath();
    writeFileSync(path, "");
    chmodSync(path, 0o640);
    const storage = await sqliteStorage(path);
    await storage.create(REX);
    assert.deepEqual(modes(path), ["640", "640", "640"]);
    await storage.close();
  },
);

/** The modes of a file and of those that SQLite keeps beside it. */
function modes(path: string): readonly string[] {
  return ["", "-wal", "-shm"].map((suffix) =>
    (statSync(path + suffix).mode & 0o777).toString(8)
  );
}
