import assert from "node:assert/strict";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { key } from "../../contract/idempotency_contract.ts";
import { newPet, REX } from "../../support/new_pet.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";

const newPath = temporaryFiles();

/** Runs SQL on a connection of its own, and returns the first column of the first row. */
function ask(path: string, sql: string): unknown {
  const db = new DatabaseSync(path);
  try {
    return Object.values(db.prepare(sql).get() ?? {})[0];
  } finally {
    db.close();
  }
}

/** Makes a file as version 1 of the program made it, with one pet. */
function makeVersion1(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE pets (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      category_id INTEGER NOT NULL,
      status INTEGER NOT NULL CHECK (status IN (0, 1, 2))
    ) STRICT;
    CREATE INDEX pets_by_status ON pets (status, id);
    CREATE TABLE api_keys (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      created INTEGER NOT NULL,
      revoked INTEGER
    ) STRICT;
    INSERT INTO pets VALUES (7, 'Rex', 1, 0);
    PRAGMA application_id = ${0x50455453};
    PRAGMA user_version = 1`);
  db.close();
}

test("sqliteStorage brings a file of version 1 up to date, if 8 open it at once too", async () => {
  const path = newPath();
  makeVersion1(path);
  const storages = await Promise.all(
    Array.from({ length: 8 }, () => sqliteStorage(path)),
  );
  try {
    const created = await Promise.all(
      storages.map((storage) => storage.create(REX, key(1))),
    );
    assert.deepEqual(created.map(({ id }) => id), created.map(() => 8n));
    for (const storage of storages) {
      const { pets } = await storage.list({ limit: 10 });
      assert.deepEqual(pets.map(({ id }) => id), [7n, 8n]);
    }
  } finally {
    await Promise.all(storages.map((storage) => storage.close()));
  }
  assert.equal(ask(path, "PRAGMA user_version"), 2);
});

test("sqliteStorage forgets expired keys in small steps, and touches no pet", async () => {
  const path = newPath();
  const keeps = await sqliteStorage(path);
  for (let i = 0; i < 20; i++) await keeps.create(REX, key(i));
  const forgets = await sqliteStorage(path, { idempotencyRetention: 0 });
  const left = () => ask(path, "SELECT count(*) FROM idempotency_keys");
  try {
    await forgets.create(REX);
    assert.equal(left(), 20);
    await forgets.create(REX, key(100));
    assert.equal(left(), 19);
    await Promise.all(
      [101, 102, 103].map((number) => forgets.create(REX, key(number))),
    );
    assert.equal(left(), 16);
    for (let i = 0; i < 20; i++) await forgets.create(REX, key(200 + i));
    assert.ok(Number(left()) <= 2, `${left()} are left`);
    assert.equal((await forgets.list({ limit: 100 })).pets.length, 45);
  } finally {
    await Promise.all([keeps.close(), forgets.close()]);
  }
});

test("sqliteStorage keeps no key of a create that failed", async () => {
  const path = newPath();
  const storage = await sqliteStorage(path);
  try {
    ask(
      path,
      `CREATE TRIGGER no_tom BEFORE INSERT ON pets WHEN new.name = 'Tom'
        BEGIN SELECT RAISE(ABORT, 'no Tom'); END`,
    );
    await assert.rejects(
      storage.create(newPet({ ...REX, name: "Tom" }), key(1)),
    );
    assert.equal(ask(path, "SELECT count(*) FROM idempotency_keys"), 0);
    assert.equal((await storage.create(REX, key(1))).replayed, undefined);
  } finally {
    await storage.close();
  }
});

const skip = process.platform === "win32" && "Windows has no file modes";

test(
  "sqliteStorage makes files that only their owner can read",
  { skip },
  async () => {
    const before = process.umask(0);
    const path = newPath();
    const storage = await sqliteStorage(path);
    process.umask(before);
    try {
      await storage.create(REX);
      assert.deepEqual(modes(path), ["600", "600", "600"]);
    } finally {
      await storage.close();
    }
  },
);

test(
  "sqliteStorage leaves the mode of a file that is there",
  { skip },
  async () => {
    const path = newPath();
    writeFileSync(path, "");
    chmodSync(path, 0o640);
    const storage = await sqliteStorage(path);
    try {
      await storage.create(REX);
      assert.deepEqual(modes(path), ["640", "640", "640"]);
    } finally {
      await storage.close();
    }
  },
);

/** The modes of a file and of those that SQLite keeps beside it. */
function modes(path: string): readonly string[] {
  return ["", "-wal", "-shm"].map((suffix) =>
    (statSync(path + suffix).mode & 0o777).toString(8)
  );
}
