import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { databaseContract } from "../../contract/database_contract.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";

const newPath = temporaryFiles();

databaseContract(
  (title, check, timeout) =>
    test(`sqliteStorage: ${title}`, { timeout }, check),
  async () => {
    const path = newPath();
    return (options) => sqliteStorage(path, options);
  },
);
