import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import { databaseContract } from "../database_contract.ts";
import { testUnless } from "../../../support/runtime.ts";
import { PATIENT, sharedPostgres } from "../../../support/postgres/shared.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const onPostgres = { test: testUnless(skip) };

databaseContract(
  (title, check, timeout) =>
    onPostgres.test(`postgresStorage: ${title}`, { timeout }, check),
  async () => {
    const url = new URL(await emptyDatabase());
    // Sixteen of them are opened at once, and a server has a hundred connections.
    url.searchParams.set("connection_limit", "4");
    return (options) => postgresStorage(url.href, { ...PATIENT, ...options });
  },
);
