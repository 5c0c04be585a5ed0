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

async function newPlace(): Promise<
  (options?: SqliteStorageOptions) => Promise<SqliteStorage>
> {
  const path = join(directory, `${++files}.db`);
  return (options) => sqliteStorage(path, options);
}

const open = async () => await (await newPlace())();

petStorageContract("sqliteStorage", open);
persistentPetStorageContract("sqliteStorage", newPlace);
apiKeyStorageContract("sqliteStorage", open);
persistentApiKeyStorageContract("sqliteStorage", newPlace);
idempotencyContract("sqliteStorage", newPlace);
sharedIdempotencyContract("sqliteStorage", newPlace);
