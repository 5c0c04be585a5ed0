import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedPostgres } from "./shared.ts";
import { runSql } from "./sql.ts";

const { skip, newDatabase } = await sharedPostgres();
const options = { skip, timeout: 60_000 };

test(
  "newDatabase gives every test an empty database in UTF-8",
  options,
  async () => {
    const [one, other] = [await newDatabase(), await newDatabase()];
    await runSql(one, "create table pet (id bigint)");
    assert.deepEqual(
      await runSql(other, "select to_regclass('pet') as pet"),
      [{ pet: null }],
    );
    assert.deepEqual(await runSql(other, "show server_encoding"), [
      { server_encoding: "UTF8" },
    ]);
  },
);
