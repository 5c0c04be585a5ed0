import { join } from "node:path";
import {
  type SqliteStorage,
  sqliteStorage,
  type SqliteStorageOptions,
} from "../../../adapters/sqlite/mod.ts";
import {
  apiKeyStorageContract,
  persistentApiKeyStorageContract,
} from "../../contract/api_key_storage_contract.ts";
import {
  idempotencyContract,
  sharedIdempotencyContract,
} from "../../contract/idempotency_contract.ts";
import {
  persistentPetStorageContract,
  petStorageContract,
} from "../../contract/pet_storage_contract.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

const directory = temporaryDirectory();
let files = 0;

function newPlace(): (
  options?: SqliteStorageOptions,
) => Promise<SqliteStorage> {
  const path = join(directory, `${++files}.db`);
  return (options) => sqliteStorage(path, options);
}

petStorageContract("sqliteStorage", () => newPlace()());
persistentPetStorageContract(
  "sqliteStorage",
  () => Promise.resolve(newPlace()),
);
apiKeyStorageContract("sqliteStorage", () => newPlace()());
persistentApiKeyStorageContract(
  "sqliteStorage",
  () => Promise.resolve(newPlace()),
);
idempotencyContract("sqliteStorage", () => Promise.resolve(newPlace()));
sharedIdempotencyContract("sqliteStorage", () => Promise.resolve(newPlace()));
