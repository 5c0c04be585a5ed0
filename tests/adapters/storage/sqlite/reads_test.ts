import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import type { Page } from "../../../../core/pets/page.ts";
import { type Pet, type PetId, petId } from "../../../../core/pets/pet.ts";
import type { PetStorage } from "../../../../core/pets/pet_storage.ts";
import {
  assertUnavailable,
  onFile,
  onPrepare,
} from "../../../support/sqlite.ts";
import { newPet, REX } from "../../../support/pets.ts";

const withFile = { test: onFile() };

/** Records the statements that run, by the beginning of their SQL, until the test is over. */
function recordStatements(t: TestContext): string[] {
  const ran: string[] = [];
  onPrepare(t, (sql, prepare) => {
    const statement = prepare(sql);
    const isLook = sql.includes("wal_checkpoint");
    const [name = ""] = /BEGIN|COMMIT|ROLLBACK|FROM \w+ WHERE \w+/
      .exec(sql) ?? [];
    const record = <T extends unknown[], R>(run: (...values: T) => R) =>
    (
      ...values: T
    ): R => {
      // Without the looks at the files, which a timer takes.
      if (!isLook) ran.push(`${name} ${values}`.trim());
      return run.apply(statement, values);
    };
    return Object.assign(statement, {
      get: record(statement.get),
      all: record(statement.all),
      run: record(statement.run),
    });
  });
  return ran;
}

const get = (id: bigint) => `FROM pets WHERE id ${id}`;

withFile.test("the first read of a turn runs at once, the others together at its end", async ({ t, open }) => {
  const ran = recordStatements(t);
  const storage = await open();
  const ids = await createThree(storage);
  const [first, second, third] = ids;
  for (let round = 0; round < 2; round++) {
    ran.splice(0);
    const reads = [storage.get(first)];
    for (let i = 0; i < 9; i++) await Promise.resolve(); // within the turn
    for (const id of [second, second, third, first]) {
      reads.push(storage.get(id));
    }
    const page = storage.list({ limit: 2 });
    assert.deepEqual(ran, [get(first)]);
    assert.deepEqual(
      (await Promise.all(reads)).map((pet) => pet?.id),
      [first, second, second, third, first],
    );
    assert.deepEqual((await page).pets.map(({ id }) => id), [first, second]);
    const together = [get(second), get(third), get(first), "0"];
    assert.deepEqual(ran.slice(1), ["BEGIN", ...together, "ROLLBACK"]);
  }
});

withFile.test("a single read that waits needs no transaction", async ({ t, open }) => {
  const ran = recordStatements(t);
  const storage = await open();
  const [first, second] = await createThree(storage);
  ran.splice(0);
  await Promise.all([storage.get(first), storage.get(second)]);
  assert.deepEqual(ran, [get(first), get(second)]);
});

withFile.test("the look-up of a key and ping run at once, and no get waits for them", async ({ t, open }) => {
  const ran = recordStatements(t);
  const storage = await open();
  const [first] = await createThree(storage);
  ran.splice(0);
  const all = [storage.apiKeys.isActive("0".repeat(64)), storage.ping()];
  const lookUps = ran.length;
  assert.ok(lookUps >= 2);
  all.push(storage.apiKeys.isActive("1".repeat(64)));
  assert.ok(ran.length > lookUps);
  const read = storage.get(first);
  assert.equal(ran.at(-1), get(first));
  await Promise.all([...all, read]);
});

withFile.test("a read that waits sees what was acknowledged before it", async ({ open }) => {
  const storage = await open();
  for (let round = 0; round < 20; round++) {
    const created = storage.create(REX);
    const reads: Promise<unknown>[] = [storage.list({ limit: 1 })];
    const { id } = await created;
    reads.push(storage.get(id), storage.list({ limit: 1, after: id - 1n }));
    const [, pet, page] = await Promise.all(reads);
    assert.equal((pet as Pet | undefined)?.id, id);
    assert.equal((page as Page).pets[0]?.id, id);
  }
});

withFile.test("equal pages belong to their callers, whose queries may change later", async ({ open }) => {
  const storage = await open();
  await createThree(storage);
  const query = { limit: 2 };
  const pages = [1, 2, 3].map(() => storage.list(query));
  query.limit = 1;
  const lengths: number[] = [];
  await Promise.all(pages.map(async (page) => {
    const pets = (await page).pets as Pet[];
    lengths.push(pets.length);
    pets.pop();
  }));
  assert.deepEqual(lengths, [2, 2, 2]);
});

withFile.test("close answers the reads that wait, and refuses others", async ({ open }) => {
  const storage = await open();
  const ids = await createThree(storage);
  const reads = ids.map((id) => storage.get(id));
  const closing = storage.close();
  await assertUnavailable(storage.get(ids[0]), /the storage is closed/);
  await assertUnavailable(
    storage.list({ limit: 1 }),
    /the storage is closed/,
  );
  assert.deepEqual((await Promise.all(reads)).map((pet) => pet?.id), ids);
  await closing;
});

async function createThree(
  storage: PetStorage,
): Promise<readonly [PetId, PetId, PetId]> {
  const create = async () => (await storage.create(REX)).id;
  return [await create(), await create(), await create()];
}

withFile.test("sqliteStorage fails only reads of what is damaged in the file, and goes on", async ({ path, open }) => {
  const long = newPet({ ...REX, name: "x".repeat(100) });
  const storage = await open();
  await Promise.all(Array.from({ length: 2000 }, () => storage.create(long)));
  await storage.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, bytes.length - 4096); // the page of the last pets
  writeFileSync(path, bytes);
  const damaged = await open();
  for (const round of ["first", "again"]) {
    const [early, late, page] = await Promise.allSettled([
      damaged.get(petId(1n)),
      damaged.get(petId(2000n)),
      damaged.list({ limit: 3 }),
    ]);
    const reason = /^StorageError: Cannot get pet: the file is damaged/;
    assert.ok(late?.status === "rejected", round);
    assert.match(`${late.reason}`, reason, round);
    assert.equal(early?.status, "fulfilled", round);
    assert.equal(page?.status, "fulfilled", round);
  }
});

withFile.test("the log of sqliteStorage shrinks to 16 MB after a long reader", async ({ path, open, sql }) => {
  const log = () => statSync(`${path}-wal`).size;
  const storage = await open();
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN; SELECT * FROM pets");
  sql(`PRAGMA synchronous = OFF;\nINSERT INTO pets (name, category_id, status)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    SELECT printf('%0250d', i), i, 0 FROM n`);
  assert.ok(log() > 25e6, `${log()}`);
  reader.close();
  // Several reads at once, which share a transaction.
  await Promise.all([1, 2].map((limit) => storage.list({ limit })));
  for (let i = 0; i < 3; i++) await storage.create(REX);
  assert.ok(log() <= 16e6, `${log()}`);
});

withFile.test("sqliteStorage prepares a statement once, and one for all limits above 100", async ({ t, open }) => {
  const storage = await open();
  const texts: string[] = [];
  onPrepare(t, (sql, prepare) => {
    texts.push(sql);
    return prepare(sql);
  });
  const now = new Date();
  for (let limit = 95; limit < 111; limit++) {
    await storage.create(REX);
    await storage.list({ limit });
    await storage.list({ limit, status: "sold" });
    await storage.ping();
    const digest = `${limit}`.padStart(64, "0");
    await storage.apiKeys.isActive(digest);
    const { id } = await storage.apiKeys.insert({
      name: "key",
      digest,
      created: now,
    });
    await storage.apiKeys.revoke(id, now);
    await storage.apiKeys.list();
  }
  assert.equal((await storage.list({ limit: 105 })).pets.length, 16);
  assert.deepEqual(texts, [...new Set(texts)]);
  const pages = texts.filter((text) => /FROM pets.*LIMIT/s.test(text));
  // Both of each limit from 95 to 100, and those of all others.
  assert.equal(pages.length, 2 * 7);
  assert.ok(texts.length > pages.length);
});
