import assert from "node:assert/strict";
import { PETS } from "../../../adapters/database/transfer.ts";
import { parsePostgresUrl } from "../../../adapters/postgres/address.ts";
import { postgresTransfer } from "../../../adapters/postgres/transfer.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { testDatabase } from "../../support/postgres/test_database.ts";
import { until } from "../../support/postgres/until.ts";

const it = await testDatabase();

it("is copied within 30 s for a lock, and 60 s for a statement", async ({ url }) => {
  const target = await postgresTransfer(parsePostgresUrl(url), "write");
  const sql = `select current_setting('lock_timeout'),
    current_setting('idle_in_transaction_session_timeout')`;
  assert.deepEqual(await target.write(PETS, sql), [["30s", "1min"]]);
  await target.close();
});

it("leaves a database that cannot be used as it is, without connections", async ({ url, open }) => {
  const copying = postgresTransfer(parsePostgresUrl(url), "read");
  await assert.rejects(copying, {
    kind: "unavailable",
    message:
      "Cannot open the database: it has no tables of this program; nothing was changed",
  });
  await runSql(url, "create table pets (id int)");
  await assert.rejects(open(url), /another program has a table/);
  const others = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  await until(
    "all have left",
    async () => (await runSql(url, others)).length === 0,
    5000,
  );
});
