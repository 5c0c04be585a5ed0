/** The HTTP contract with pets and keys in an SQLite file. */
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { storageService } from "../../contract/handle_service.ts";
import { httpContract } from "../../contract/register.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";

const newPath = temporaryFiles();

httpContract(
  (title, check) => test(`handle on sqliteStorage: ${title}`, check),
  async () => storageService(await sqliteStorage(newPath())),
);
