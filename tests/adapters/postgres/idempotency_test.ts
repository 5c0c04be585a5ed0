import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { tablesContract } from "../database/tables_contract.ts";

const { skip, newDatabase } = await sharedPostgres();

tablesContract(
  "postgresStorage",
  async () => {
    const url = `${await newDatabase()}?connection_limit=4`;
    return {
      open: (options) => postgresStorage(url, options),
      async sql(text) {
        const [row = {}] = await runSql(url, text);
        return Object.values(row)[0];
      },
    };
  },
  "alter table pets add constraint no_tom check (name <> 'Tom')",
  { skip, timeout: 30_000 },
);
