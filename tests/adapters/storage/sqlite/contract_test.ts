import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { databaseContract } from "../database_contract.ts";
import { temporaryFiles } from "../../../support/temporary_directory.ts";
import { sqlContract, SQLITE } from "../sql_contract.ts";

const newPath = temporaryFiles();

databaseContract(
  (title, check, timeout) =>
    test(`sqliteStorage: ${title}`, { timeout }, check),
  async () => {
    const path = newPath();
    return (options) => sqliteStorage(path, options);
  },
);

sqlContract(
  (title, check) => test(`sqliteStorage ${title}`, check),
  async () => {
    const path = newPath();
    return {
      open: (options) => sqliteStorage(path, options),
      async sql(text) {
        const db = new DatabaseSync(path);
        try {
          if (!text.startsWith("select")) return db.exec(text);
          return Object.values(db.prepare(text).get() ?? {})[0];
        } finally {
          db.close();
        }
      },
    };
  },
  SQLITE,
);
