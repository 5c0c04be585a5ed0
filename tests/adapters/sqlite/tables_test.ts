import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";
import { SQLITE, tablesContract } from "../database/tables_contract.ts";

const newPath = temporaryFiles();

tablesContract(
  (title, check) => test(`sqliteStorage ${title}`, check),
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
  SQLITE,
);
