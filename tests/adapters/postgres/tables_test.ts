import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { newPet, REX } from "../../support/new_pet.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import {
  type Database,
  key,
  tablesContract,
} from "../database/tables_contract.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

async function newPlace(): Promise<Database> {
  const url = `${await emptyDatabase()}?connection_limit=4`;
  return {
    open: (options) => postgresStorage(url, options),
    async sql(text) {
      const [row = {}] = await runSql(url, text);
      return Object.values(row)[0];
    },
  };
}

tablesContract("postgresStorage", newPlace, {
  noTom: "alter table pets add constraint no_tom check (name <> 'Tom')",
  lastId: (id) => `select setval(pg_get_serial_sequence('pets', 'id'), ${id})`,
}, options);

// What another server committed while a create waited for its turn is not in the create's snapshot.
test(
  "postgresStorage finds a key that was committed while its create waited for its turn",
  options,
  async () => {
    const { open } = await newPlace();
    const storages = await Promise.all(Array.from({ length: 6 }, () => open()));
    try {
      for (let round = 1; round <= 30; round++) {
        const created = await Promise.all(
          storages.map((storage, i) =>
            storage.create(
              newPet({ ...REX, categoryId: BigInt(i) }),
              key(round),
            )
          ),
        );
        for (const name of ["id", "categoryId"] as const) {
          assert.equal(new Set(created.map((pet) => pet[name])).size, 1);
        }
        const { pets } = await storages[0]?.list({ limit: 99 }) ?? {};
        assert.equal(pets?.length, round, "a pet without its key was added");
      }
    } finally {
      await Promise.all(storages.map((storage) => storage.close()));
    }
  },
);
