import { join } from "node:path";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { databaseContract } from "../../contract/database_contract.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

const directory = temporaryDirectory();
let files = 0;

databaseContract("sqliteStorage", async () => {
  const path = join(directory, `${++files}.db`);
  return (options) => sqliteStorage(path, options);
});
