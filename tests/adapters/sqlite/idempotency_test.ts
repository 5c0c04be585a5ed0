import assert from "node:assert/strict";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { REX } from "../../support/new_pet.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";
import { tablesContract } from "../database/tables_contract.ts";

const newPath = temporaryFiles();

tablesContract(
  "sqliteStorage",
  async () => {
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
  },
  `CREATE TRIGGER no_tom BEFORE INSERT ON pets WHEN new.name = 'Tom'
  BEGIN SELECT RAISE(ABORT, 'no_tom'); END`,
);

const skip = process.platform === "win32" && "Windows has no file modes";

for (const mode of ["600", "640"]) {
  const what = mode === "600"
    ? "makes files that only their owner can read"
    : "leaves the mode of a file that is there";

  test(`sqliteStorage ${what}`, { skip }, async () => {
    const path = newPath();
    if (mode === "640") {
      writeFileSync(path, "");
      chmodSync(path, 0o640);
    }
    const before = process.umask(0);
    const storage = await sqliteStorage(path);
    process.umask(before);
    await storage.create(REX);
    assert.deepEqual(modes(path), [mode, mode, mode]);
    await storage.close();
  });
}

/** The modes of a file and of those that SQLite keeps next to it. */
function modes(path: string): readonly string[] {
  return ["", "-wal", "-shm"].map((suffix) =>
    (statSync(path + suffix).mode & 0o777).toString(8)
  );
}
