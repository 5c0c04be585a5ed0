/** The promises of storages in databases about their tables, looked at by SQL. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import type { Open } from "../../contract/database_contract.ts";
import { key, newPet, REX } from "../../support/pets.ts";

/** A database that is empty. */
export interface Database {
  readonly open: Open;
  /** Runs SQL on a connection of its own, and returns the first column of the first row. */
  readonly sql: (text: string) => Promise<unknown>;
}

/** What each database writes in its own way. */
export interface Dialect {
  /** Has a pet named Tom refused, with `no_tom` in the message. */
  readonly noTom: string;
  /** Has the next pet get the id after this one. */
  readonly lastId: (id: bigint) => string;
}

export const SQLITE: Dialect = {
  noTom: `CREATE TRIGGER no_tom BEFORE INSERT ON pets WHEN new.name = 'Tom'
    BEGIN SELECT RAISE(ABORT, 'no_tom'); END`,
  lastId: (id) => `INSERT INTO sqlite_sequence VALUES ('pets', ${id})`,
};

/** Registers the tests. */
export function tablesContract(
  register: (
    title: string,
    check: (t: TestContext) => Promise<void>,
  ) => unknown,
  newDatabase: () => Promise<Database>,
  { noTom, lastId }: Dialect,
): void {
  function it(
    promise: string,
    check: (db: Database, t: TestContext) => Promise<void>,
  ): void {
    register(promise, async (t) => {
      const { open, sql } = await newDatabase();
      const opened: PetStorage[] = [];
      const keep: Open = async (settings) => {
        const storage = await open(settings);
        opened.push(storage);
        return storage;
      };
      try {
        await check({ open: keep, sql }, t);
      } finally {
        await Promise.all(opened.map((storage) => storage.close()));
      }
    });
  }

  it("gives and finds ids beyond 2^53 exactly", async ({ open, sql }) => {
    const storage = await open();
    const start = 2n ** 53n;
    await sql(lastId(start));
    for (const id of [start + 1n, start + 2n, start + 3n]) {
      const pet = await storage.create(REX);
      assert.equal(pet.id, id);
      assert.deepEqual(await storage.get(pet.id), pet);
      const page = await storage.list({ limit: 1, after: id - 1n });
      assert.deepEqual(page.pets, [pet]);
    }
  });

  it(
    "forgets expired keys in small steps, and touches no pet",
    async ({ open, sql }, t) => {
      t.mock.method(Date, "now", () => 5000); // what is kept for 0 ms has expired at once
      const keeps = await open();
      const forgets = await open({ idempotencyRetention: 0 });
      const left = async () =>
        Number(await sql("select count(*) from idempotency_keys"));
      for (let i = 0; i < 20; i++) await keeps.create(REX, key(i));
      await forgets.create(REX);
      assert.equal(await left(), 20);
      await forgets.create(REX, key(100));
      assert.equal(await left(), 19);
      await Promise.all(
        [101, 102, 103].map((number) => forgets.create(REX, key(number))),
      );
      assert.equal(await left(), 16);
      for (let i = 0; i < 20; i++) {
        const { replayed } = await forgets.create(REX, key(100));
        assert.equal(replayed, undefined, `create ${i} found a forgotten key`);
      }
      assert.ok(await left() <= 2, `${await left()} are left`);
      assert.equal((await forgets.list({ limit: 100 })).pets.length, 45);
    },
  );

  it("takes a key whose pet was deleted by hand as unused", async ({ open, sql }) => {
    const storages = await Promise.all([open(), open(), open()]);
    const [storage] = storages;
    const { id } = await storage.create(REX, key(1));
    await sql("delete from pets");
    const created = await Promise.all(
      storages.map((storage) => storage.create(REX, key(1))),
    );
    const added = created.filter(({ replayed }) => replayed === undefined);
    assert.equal(added.length, 1);
    assert.ok(added.every((pet) => pet.id > id));
    assert.deepEqual((await storage.list({ limit: 9 })).pets, added);
  });

  it("keeps no key of a create that failed", async ({ open, sql }) => {
    const storage = await open();
    await sql(noTom);
    const tom = newPet({ ...REX, name: "Tom" });
    const noFault = /^(?!StorageError).*no_tom/; // the database works
    await assert.rejects(storage.create(tom, key(1)), noFault);
    assert.equal(Number(await sql("select count(*) from idempotency_keys")), 0);
    const rex = await storage.create(REX, key(1));
    assert.equal(rex.replayed, undefined);
    const again = await storage.create(REX, key(1));
    assert.deepEqual(again, { ...rex, replayed: true });
  });

  it("refuses what the service never writes: a missing value, another status, a digest twice", async ({ open, sql }) => {
    const storage = await open();
    await storage.create(REX, key(1));
    const addKey = () =>
      sql("insert into api_keys (name, digest, created) values ('a', 'b', 0)");
    await addKey();
    await assert.rejects(addKey(), /unique/i);
    const columns = {
      pets: ["name", "category_id", "status"],
      api_keys: ["name", "digest", "created"],
      idempotency_keys: ["key", "pet_id", "created"],
    };
    for (const [table, names] of Object.entries(columns)) {
      for (const name of names) {
        const setting = sql(`update ${table} set ${name} = null`);
        await assert.rejects(setting, /null/i, `${table} ${name}`);
      }
    }
    await assert.rejects(sql("update pets set status = 3"), /check/i);
  });
}
