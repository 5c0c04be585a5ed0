import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStorage } from "../../../adapters/memory/mod.ts";
import type { CheckedPet } from "../../../core/pets/pet.ts";
import { itOf, retentionContract } from "../../contract/database_contract.ts";
import { storageContract } from "../../contract/storage/mod.ts";
import { REX } from "../../support/new_pet.ts";

const it = itOf("memoryStorage");
storageContract({ it, open: async () => memoryStorage() });
retentionContract(it, async () => async (options) => memoryStorage(options));

test("memoryStorage returns pets that nobody can change", async () => {
  const storage = memoryStorage();
  const created = await storage.create(REX);
  const found = await storage.get(created.id);
  const { pets: [listed] } = await storage.list({ limit: 1 });
  for (const pet of [created, found, listed]) {
    assert.throws(() => Object.assign(pet ?? {}, { name: "Tom" }), TypeError);
  }
});

test("memoryStorage keeps nothing of a create that fails because its status is unknown", async () => {
  const storage = memoryStorage();
  const lost = { ...REX, status: "lost" };
  await assert.rejects(storage.create(lost as unknown as CheckedPet));
  assert.deepEqual((await storage.list({ limit: 9 })).pets, []);
  assert.equal((await storage.create(REX)).id, 1n);
});

test("memoryStorage keeps an idempotency key for 24 hours by default", async (t) => {
  let time = 0;
  t.mock.method(performance, "now", () => time);
  const storage = memoryStorage();
  const sent = () => storage.create(REX, { idempotencyKey: "key" });
  const first = await sent();
  time = 24 * 60 * 60 * 1000 - 1;
  assert.deepEqual(await sent(), { ...first, replayed: true });
  time++;
  assert.equal((await sent()).replayed, undefined);
});

test("an idempotency key that is sent again after it expired is kept as long as a new one", async (t) => {
  let time = 0;
  t.mock.method(performance, "now", () => time);
  const storage = memoryStorage({ idempotencyRetention: 10 });
  const isReplayed = async (idempotencyKey: string) =>
    (await storage.create(REX, { idempotencyKey })).replayed === true;
  await storage.create(REX); // one without a key delays nothing
  assert.equal(await isReplayed("again"), false);
  time = 5;
  assert.equal(await isReplayed("other"), false);
  time = 12;
  await storage.create(REX);
  assert.equal(await isReplayed("again"), false);
  time = 16;
  assert.equal(await isReplayed("other"), false);
  assert.equal(await isReplayed("again"), true);
});
