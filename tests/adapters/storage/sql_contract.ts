/**
 * What our own database storages promise beyond the contract of all storages, checked with SQL and
 * through their reads.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { PetDatabase } from "../../../adapters/storage/pet_database.ts";
import { INT64_MAX } from "../../../core/int64.ts";
import { PET_STATUSES, petId } from "../../../core/pets/pet.ts";
import { atEnd } from "../../support/at_end.ts";
import type { Open } from "./database_contract.ts";
import { key, newPet, REX } from "../../support/pets.ts";

/** A database that is empty. */
export interface Database {
  readonly open: Open<PetDatabase>;
  /**
   * Runs SQL on a connection of its own, and returns the first column of the first row; several
   * texts end in `;\n`.
   */
  readonly sql: (text: string) => Promise<unknown>;
}

/** What each database writes in its own way. */
export interface Dialect {
  /** Makes the database refuse a pet named Tom, with `no_tom` in the message. */
  readonly noTom: string;
  /** Makes the next pet get the id after this one. */
  readonly lastId: (id: bigint) => string;
  /** Gives the pet 5 a status that does not exist. */
  readonly impossible: string;
  /** The error of a create when no ids are left: no fault that may pass. */
  readonly noIds: RegExp;
}

export const SQLITE: Dialect = {
  noTom: `CREATE TRIGGER no_tom BEFORE INSERT ON pets WHEN new.name = 'Tom'
    BEGIN SELECT RAISE(ABORT, 'no_tom'); END`,
  lastId: (id) => `INSERT INTO sqlite_sequence VALUES ('pets', ${id})`,
  impossible:
    "PRAGMA ignore_check_constraints = ON;\nUPDATE pets SET status = 7 WHERE id = 5",
  noIds: /^Error: Cannot create pet: no ids are left$/,
};

/** Registers the tests. */
export function sqlContract(
  register: (
    title: string,
    check: (t: TestContext) => Promise<void>,
  ) => unknown,
  newDatabase: () => Promise<Database>,
  { noTom, lastId, impossible, noIds }: Dialect,
): void {
  const onDatabase = {
    test(
      promise: string,
      check: (db: Database & { readonly t: TestContext }) => Promise<void>,
    ): void {
      register(promise, async (t) => {
        const { open, sql } = await newDatabase();
        await check({
          t,
          sql,
          async open(settings) {
            const storage = await open(settings);
            atEnd(t, () => storage.close());
            return storage;
          },
        });
      });
    },
  };

  onDatabase.test("gives and finds ids to the last int64 exactly, then says that none are left", async ({ open, sql }) => {
    const storage = await open();
    const start = INT64_MAX - 3n;
    await sql(lastId(start));
    for (const id of [start + 1n, start + 2n, INT64_MAX]) {
      const pet = await storage.create(REX);
      assert.equal(pet.id, id);
      assert.deepEqual(await storage.get(pet.id), pet, `${id}`);
      const page = await storage.list({ limit: 1, after: id - 1n });
      assert.deepEqual(page.pets, [pet], `${id}`);
    }
    await assert.rejects(storage.create(REX), noIds);
    assert.equal((await storage.list({ limit: 9 })).pets.length, 3);
  });

  onDatabase.test("forgets expired keys in small steps, and touches no pet", async ({ t, open, sql }) => {
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
  });

  onDatabase.test("takes a key whose pet was deleted by hand as unused", async ({ open, sql }) => {
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

  onDatabase.test("keeps no key of a create that failed", async ({ open, sql }) => {
    const storage = await open();
    await sql(noTom);
    const tom = newPet({ ...REX, name: "Tom" });
    const noFault = /^(?!StorageError).*no_tom/; // the database works
    await assert.rejects(storage.create(tom, key(1)), noFault);
    assert.equal(
      Number(await sql("select count(*) from idempotency_keys")),
      0,
    );
    const rex = await storage.create(REX, key(1));
    assert.equal(rex.replayed, undefined);
    const again = await storage.create(REX, key(1));
    assert.deepEqual(again, { ...rex, replayed: true });
  });

  onDatabase.test("refuses what the service never writes", async ({ open, sql }) => {
    const storage = await open();
    await storage.create(REX, key(1));
    const addKey = () =>
      sql(
        "insert into api_keys (name, digest, created) values ('a', 'b', 0)",
      );
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
      const mistyping = sql(`update ${table} set ${names.at(-1)} = 'text'`);
      await assert.rejects(
        mistyping,
        /cannot store TEXT|invalid input syntax/,
        table,
      );
    }
    await assert.rejects(sql("update pets set status = 3"), /check/i);
  });

  onDatabase.test("fails only reads of a row that cannot be read", async ({ open, sql }) => {
    const storage = await open();
    await addPets(storage, 10);
    await sql(impossible);
    const gets = Array.from({ length: 10 }, (_, i) => petId(BigInt(i + 1)));
    const outcomes = await Promise.allSettled([
      ...gets.map((id) => storage.get(id)),
      ...gets.map((id) => storage.list({ limit: 2, after: id })),
    ]);
    const failed = outcomes.flatMap(({ status }, index) =>
      status === "rejected" ? [index] : []
    );
    // A page reads one pet more than it holds.
    assert.deepEqual(failed, [4, 11, 12, 13]);
  });

  onDatabase.test("fails only the repeats of a create whose pet cannot be read", async ({ open, sql }) => {
    const storage = await open();
    await addPets(storage, 4);
    await storage.create(REX, key(5));
    await sql(impossible);
    const outcomes = await Promise.allSettled(
      [4, 5, 6].map((number) => storage.create(REX, key(number))),
    );
    const statuses = outcomes.map(({ status }) => status);
    assert.deepEqual(statuses, ["fulfilled", "rejected", "fulfilled"]);
  });

  onDatabase.test("lets all reads end that were accepted before close(), and then refuses more", async ({ open }) => {
    const storage = await open();
    const { get, list, apiKeys } = storage;
    // More than one group of each, so that some wait.
    const reads = Array.from({ length: 2000 }, (_, i) => [
      get(petId(BigInt(i + 1))),
      apiKeys.isActive(`${i}`),
      ...i < 40 ? [list({ limit: 100, after: BigInt(i) })] : [],
    ]);
    await Promise.all([...reads.flat(), storage.close()]);
    const created = new Date(0);
    const record = { name: "a", digest: "b", created };
    const refused = {
      "create pet": () => storage.create(REX),
      "get pet": () => get(petId(1n)),
      "list pets": () => list({ limit: 1 }),
      "reach the (?:storage|database)": () => storage.ping(),
      "check API key": () => apiKeys.isActive("1"),
      "store API key": () => apiKeys.insert(record),
      "store first API key": () => apiKeys.insertFirst(record),
      "list API keys": () => apiKeys.list(),
      "revoke API key": () => apiKeys.revoke(1, created),
      "record use of API keys": async () =>
        await apiKeys.markUsed?.(1, created),
    };
    for (const [action, call] of Object.entries(refused)) {
      const message = RegExp(`^Cannot ${action}: the storage is closed$`);
      await assert.rejects(call, { kind: "unavailable", message }, action);
    }
  });
}

async function addPets(storage: PetDatabase, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => {
    const status = PET_STATUSES[i % 2] ?? "sold";
    return storage.create(newPet({ ...REX, name: `Rex ${i}`, status }));
  }));
}
