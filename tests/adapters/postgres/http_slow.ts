/** The HTTP contract with pets and keys in PostgreSQL. */
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { storageService } from "../../contract/handle_service.ts";
import { httpContract } from "../../contract/register.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";

const { skip, emptyDatabase } = await sharedPostgres();

httpContract(
  "handle on postgresStorage",
  async () => storageService(await postgresStorage(await emptyDatabase())),
  { skip, timeout: 30_000 },
);
