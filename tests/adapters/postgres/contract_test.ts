import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { databaseContract } from "../../contract/database_contract.ts";
import { oneDatabase, sharedPostgres } from "../../support/postgres/shared.ts";

const postgres = await sharedPostgres();
const emptyDatabase = oneDatabase(postgres);

databaseContract("postgresStorage", async () => {
  const url = new URL(await emptyDatabase());
  // Sixteen of them are opened at once, and a server has a hundred connections.
  url.searchParams.set("connection_limit", "4");
  return (options) => postgresStorage(url.href, options);
}, { skip: postgres.skip, timeout: 30_000 });
