import { test, type TestContext } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { databaseContract } from "../database_contract.ts";
import { runSql } from "../../../support/sqlite.ts";
import { temporaryFiles } from "../../../support/temporary_directory.ts";
import { type Database, sqlContract, SQLITE } from "../sql_contract.ts";

const newPath = temporaryFiles();

async function newDatabase(): Promise<Database> {
  const path = newPath();
  return {
    open: (options) => sqliteStorage(path, options),
    sql: async (text) => Object.values(runSql(path, text)[0] ?? {})[0],
  };
}

const testNamed = (title: string, check: (t: TestContext) => Promise<void>) =>
  test(`sqliteStorage: ${title}`, { timeout: 65_000 }, check);
databaseContract(testNamed, async () => (await newDatabase()).open);
sqlContract(testNamed, newDatabase, SQLITE);
