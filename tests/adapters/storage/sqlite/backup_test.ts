/** The online backup that docs/operating.md names. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { temporaryFiles } from "../../../support/temporary_directory.ts";
import { REX } from "../../../support/pets.ts";
import { awaitedLater, until } from "../../../support/time.ts";
import { startStorage } from "../../../support/process.ts";

const newPath = temporaryFiles();
const COUNT = 200_000;

test("VACUUM INTO copies a database while pets are added, whole, and its ids go on", async () => {
  const path = newPath();
  const copy = newPath();
  await (await sqliteStorage(path)).close();
  const db = new DatabaseSync(path);
  db.exec(`WITH RECURSIVE number (n) AS
    (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < ${COUNT})
    INSERT INTO pets (name, category_id, status)
    SELECT printf('%0100d', n), n, n % 3 FROM number`);
  const child = startStorage();
  await child.tell(`open ${path}`);
  const creating = awaitedLater(child.tell("create Infinity 1"));
  const added = () =>
    Number(db.prepare("SELECT max(id) FROM pets").get()?.["max(id)"]) - COUNT;
  await until("pets are added", () => added() >= 10);
  const before = added();
  db.exec(`VACUUM INTO '${copy}'`);
  const after = added();
  await child.kill();
  const answers = await creating;
  assert.deepEqual(answers.filter((each) => !each.startsWith("created ")), []);
  db.close();

  const opened = new DatabaseSync(copy);
  assert.deepEqual(
    { ...opened.prepare("PRAGMA integrity_check").get() },
    { integrity_check: "ok" },
  );
  const { last, count } = opened
    .prepare("SELECT max(id) AS last, count(*) AS count FROM pets").get() ?? {};
  opened.close();
  assert.equal(last, count);
  assert.ok(Number(last) >= COUNT + before && Number(last) <= COUNT + after);
  const storage = await sqliteStorage(copy);
  assert.equal((await storage.create(REX)).id, BigInt(Number(last) + 1));
  await storage.close();
});
