/** The HTTP contract with pets and keys in PostgreSQL. */
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { storageService } from "../../contract/handle_service.ts";
import { httpContract } from "../../contract/register.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

httpContract(
  (title, check) => test(`handle on postgresStorage: ${title}`, options, check),
  async () => storageService(await postgresStorage(await emptyDatabase())),
);
