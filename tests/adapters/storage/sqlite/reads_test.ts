import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { petId } from "../../../../core/pets/pet.ts";
import { onFile, onPrepare } from "../../../support/sqlite.ts";
import { newPet, REX } from "../../../support/pets.ts";

const it = onFile();

it("sqliteStorage fails only reads of what is damaged in the file, and goes on", async ({ path, open }) => {
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
    assert.match(`${late.reason}`, reason);
    assert.equal(early?.status, "fulfilled", round);
    assert.equal(page?.status, "fulfilled", round);
  }
});

it("the log of sqliteStorage shrinks to 16 MB after a long reader", async ({ path, open, sql }) => {
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

it("sqliteStorage prepares a statement once, and one for all limits above 100", async ({ t, open }) => {
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
