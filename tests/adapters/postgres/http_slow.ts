/** The HTTP contract with animals and keys in PostgreSQL. */
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { issuedKeys } from "../../../core/keys/issued_keys.ts";
import { handleService } from "../../contract/handle_service.ts";
import { httpContract } from "../../contract/register.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";

const { skip, newDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

httpContract("handle on postgresStorage", async () => {
  const storage = await postgresStorage(await newDatabase());
  const keys = issuedKeys(storage.apiKeys);
  const { key } = await keys.issue("the contract");
  return {
    ...handleService({ storage, keys }),
    key,
    close: () => storage.close(),
  };
}, options);
