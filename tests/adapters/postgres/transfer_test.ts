import assert from "node:assert/strict";
import { test } from "node:test";
import { PETS } from "../../../adapters/database/transfer.ts";
import { parsePostgresUrl } from "../../../adapters/postgres/address.ts";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { postgresTransfer } from "../../../adapters/postgres/transfer.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { until } from "../../support/postgres/until.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

test(
  "a copy waits 30 s for a lock, and a server 60 s for a copy",
  options,
  async () => {
    const address = parsePostgresUrl(await emptyDatabase());
    const target = await postgresTransfer(address, "write");
    const sql = `select current_setting('lock_timeout'),
    current_setting('idle_in_transaction_session_timeout')`;
    assert.deepEqual(await target.write(PETS, sql), [["30s", "1min"]]);
    await target.close();
  },
);

test(
  "a database that cannot be used is left as it is, without connections",
  options,
  async () => {
    const url = await emptyDatabase();
    await assert.rejects(postgresTransfer(parsePostgresUrl(url), "read"), {
      kind: "unavailable",
      message:
        "Cannot open the database: it has no tables of this program; nothing was changed",
    });
    await runSql(url, "create table pets (id int)");
    await assert.rejects(postgresStorage(url), /another program has a table/);
    const left = () =>
      runSql(
        url,
        `select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
      );
    await until("all have left", async () => (await left()).length === 0, 5000);
  },
);
