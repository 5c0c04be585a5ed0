import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import { LIST_STATUS } from "../../../adapters/postgres/reads.ts";
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

test(
  "postgresStorage refuses a replay whose key was forgotten just now",
  options,
  async () => {
    const { open, sql } = await newPlace();
    const storage = await open();
    try {
      await storage.create(REX, key(1));
      await sql(
        `create function forget() returns trigger language plpgsql as
        'begin delete from idempotency_keys; return null; end';
      create trigger forget after insert on pets execute function forget()`,
      );
      await assert.rejects(storage.create(REX, key(1)), {
        kind: "unavailable",
        message: "Cannot create pet: its idempotency key expired just now",
      });
      assert.equal((await storage.create(REX, key(1))).id, 2n);
    } finally {
      await storage.close();
    }
  },
);

test(
  "postgresStorage waits for locks for a part of queryTimeout, 3 s at most, and leaves a pooler's connections as they were",
  options,
  async () => {
    for (
      const [parameters, queryTimeout, lockTimeout] of [
        ["", 20_000, "3s"],
        ["", 1000, "600ms"],
        ["&pgbouncer=true", 1000, "0"],
      ] as const
    ) {
      const url = `${await emptyDatabase()}?connection_limit=1${parameters}` +
        "&options=-c%20synchronous_commit%3Doff";
      const storage = await postgresStorage(url, { queryTimeout });
      try {
        await storage.create(REX);
        const record = { name: "Ann", digest: "1", created: new Date(0) };
        await storage.apiKeys.insert(record);
        await runSql(
          url.replace(/\?.*/, ""),
          `alter table pets rename to stored;
        create view pets as select id, category_id, status, concat_ws(' ',
          current_setting('lock_timeout'),
          current_setting('idle_in_transaction_session_timeout'),
          current_setting('synchronous_commit'),
          current_setting('client_min_messages')) as name from stored`,
        );
        const { name } = await storage.get(petId(1n)) ?? {};
        assert.equal(name, `${lockTimeout} 0 off notice`);
      } finally {
        await storage.close();
      }
    }
  },
);

test(
  "postgresStorage finds the pets of a status, and expired keys, without a look at all",
  options,
  async () => {
    const url = await emptyDatabase();
    await (await postgresStorage(url)).close();
    for (
      const [index, sql, values] of [
        ["pets_by_status", LIST_STATUS.text, [0, 2, 1]],
        [
          "idempotency_keys_by_created",
          "select key from idempotency_keys where created < 1 order by created",
          [],
        ],
      ] as const
    ) {
      const enabled = `${url}?options=-c%20enable_seqscan%3Doff`;
      const plan = await runSql(enabled, `explain ${sql}`, values);
      assert.match(JSON.stringify(plan), RegExp(index));
    }
  },
);
