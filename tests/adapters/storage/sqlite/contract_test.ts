import { test } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { databaseContract } from "../database_contract.ts";
import { runSql } from "../../../support/sqlite.ts";
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
      sql: async (text) => Object.values(runSql(path, text)[0] ?? {})[0],
    };
  },
  SQLITE,
);
