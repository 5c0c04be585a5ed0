/** The HTTP contract with animals and keys in an SQLite file. */
import { join } from "node:path";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { storageService } from "../../contract/handle_service.ts";
import { httpContract } from "../../contract/http_contract.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

const directory = temporaryDirectory();
let files = 0;
httpContract("handle on sqliteStorage", async () => {
  const path = join(directory, `${++files}.db`);
  return await storageService(await sqliteStorage(path));
});
