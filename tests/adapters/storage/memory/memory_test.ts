import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStorage } from "../../../../adapters/storage/memory/mod.ts";
import {
  type RegisterTest,
  retentionContract,
  storageContract,
} from "../../../contract/storage/mod.ts";
import { REX } from "../../../support/pets.ts";

const it: RegisterTest = (title, check, timeout) =>
  test(`memoryStorage: ${title}`, { timeout }, check);
const open = async (options = {}) => memoryStorage(options);
storageContract({ it, open });
retentionContract({ it, open });

test("memoryStorage says why it refuses an API key, and that it is closed", async () => {
  const storage = memoryStorage();
  const key = { name: "a", digest: "b", created: new Date(0) };
  await storage.apiKeys.insert(key);
  const exists = /its digest already exists$/;
  await assert.rejects(storage.apiKeys.insert(key), exists);
  await storage.close();
  await assert.rejects(
    storage.ping(),
    /^StorageError: Cannot use the memory storage: the storage is closed$/,
  );
});

test("memoryStorage keeps an idempotency key exactly as long as it should", async (t) => {
  let time = 0;
  t.mock.method(performance, "now", () => time);
  const storage = memoryStorage({ idempotencyRetention: 10 });
  const isReplayed = async (idempotencyKey: string) =>
    (await storage.create(REX, { idempotencyKey })).replayed === true;
  await storage.create(REX); // one without a key delays nothing
  assert.equal(await isReplayed("again"), false);
  time = 5;
  assert.equal(await isReplayed("other"), false);
  time = 9;
  assert.equal(await isReplayed("again"), true);
  time = 10;
  assert.equal(await isReplayed("again"), false);
  time = 15;
  assert.equal(await isReplayed("other"), false);
  assert.equal(await isReplayed("again"), true);
});
