import {
  type PostgresStorage,
  postgresStorage,
  type PostgresStorageOptions,
} from "../../../adapters/postgres/mod.ts";
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
import { sharedPostgres } from "../../support/postgres/shared.ts";

const { skip, newDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

async function newPlace(): Promise<
  (options?: PostgresStorageOptions) => Promise<PostgresStorage>
> {
  const url = new URL(await newDatabase());
  // Sixteen of them are opened at once, and a server has a hundred connections.
  url.searchParams.set("connection_limit", "4");
  return (options) => postgresStorage(url.href, options);
}

const open = async () => await (await newPlace())();

petStorageContract("postgresStorage", open, options);
persistentPetStorageContract("postgresStorage", newPlace, options);
apiKeyStorageContract("postgresStorage", open, options);
persistentApiKeyStorageContract("postgresStorage", newPlace, options);
idempotencyContract("postgresStorage", newPlace, options);
sharedIdempotencyContract("postgresStorage", newPlace, options);
