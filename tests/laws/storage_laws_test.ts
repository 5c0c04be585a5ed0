/** The laws of a storage, on our own; tests of the adapter and of Workers have them on D1. */

import { memoryStorage } from "../../adapters/memory/mod.ts";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { itOf } from "../contract/database_contract.ts";
import { patience } from "../support/property.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { temporaryFiles } from "../support/temporary_directory.ts";
import { storageLaws } from "./storage_laws.ts";

const newPath = temporaryFiles();
const { skip, newDatabase } = await sharedPostgres();
const timeout = patience(100);

storageLaws(itOf("memoryStorage", { timeout }), async () => memoryStorage());

storageLaws(
  itOf("sqliteStorage", { timeout }),
  () => sqliteStorage(newPath()),
);

storageLaws(
  itOf("postgresStorage", { skip, timeout }),
  async () => await postgresStorage(await newDatabase()),
);
