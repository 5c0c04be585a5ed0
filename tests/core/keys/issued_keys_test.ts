import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../../adapters/memory/mod.ts";
import { sha256 } from "../../../core/http/sha256.ts";
import { generateKey, isIssuedForm } from "../../../core/keys/key_form.ts";
import {
  type ApiKeyStorage,
  issuedKeys,
  type NewApiKeyRecord,
} from "../../../core/keys/issued_keys.ts";

test("issue makes a key of the issued form, which is valid from then on", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  const { key, record } = await keys.issue("shop");
  assert.equal(isIssuedForm(key), true);
  assert.equal(record.id, 1);
  assert.equal(record.name, "shop");
  assert.equal(await keys.verify(key), true);
  assert.equal(await keys.verify(`${key.slice(0, -1)}-`), false);
});

test("issue keeps the digest of a key, never the key", async () => {
  const inserted: NewApiKeyRecord[] = [];
  const { apiKeys } = memoryStorage();
  const keys = issuedKeys({
    ...apiKeys,
    insert(record) {
      inserted.push(record);
      return apiKeys.insert(record);
    },
  });
  const { key, record } = await keys.issue("shop");
  assert.equal(inserted.length, 1);
  assert.equal(inserted[0]?.digest, await sha256(key));
  const shown = JSON.stringify([inserted, record, await keys.list()]);
  assert.equal(shown.includes(key), false);
  assert.equal(shown.includes(key.slice(4, 20)), false);
});

test("issue throws a RangeError for a name that an animal could not have", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  for (const name of ["", "x".repeat(256), "a\nb", "\ud83d"]) {
    await assert.rejects(keys.issue(name), RangeError);
    await assert.rejects(keys.issueFirst(name), RangeError);
  }
  assert.deepEqual(await keys.list(), []);
});

test("issueFirst issues the very first key and no second", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  const all = await Promise.all(
    ["a", "b", "c"].map((name) => keys.issueFirst(name)),
  );
  const first = all.filter((issued) => issued !== undefined);
  assert.equal(first.length, 1);
  assert.equal(await keys.verify(first[0]?.key ?? ""), true);
  assert.equal((await keys.list()).length, 1);
});

test("issueFirst writes nothing if there is a key, as on a read replica", async () => {
  const { apiKeys } = memoryStorage();
  await issuedKeys(apiKeys).issue("shop");
  const insertFirst = () => assert.fail("it wrote");
  const keys = issuedKeys({ ...apiKeys, insertFirst });
  assert.equal(await keys.issueFirst("first key"), undefined);
});

test("revoke makes a key invalid at once, and that key alone", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  const one = await keys.issue("one");
  const two = await keys.issue("two");
  assert.equal(await keys.verify(one.key), true);
  assert.equal(await keys.verify(two.key), true);
  const revoked = await keys.revoke(one.record.id);
  assert.ok(revoked?.revoked instanceof Date);
  assert.equal(await keys.verify(one.key), false);
  assert.equal(await keys.verify(two.key), true);
});

test("list shows all keys ever issued, without a secret", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  await keys.issue("one");
  const { record } = await keys.issue("two");
  await keys.revoke(record.id);
  const list = await keys.list();
  assert.deepEqual(
    list.map(({ id, name, revoked }) => [id, name, revoked !== undefined]),
    [[1, "one", false], [2, "two", true]],
  );
  for (const each of list) {
    const members = Object.keys(each).filter((name) => name !== "revoked");
    assert.deepEqual(members.sort(), ["created", "id", "name"]);
  }
});

test("verify asks the storage about a digest, never about a key", async () => {
  const asked: string[] = [];
  const storage: ApiKeyStorage = {
    ...memoryStorage().apiKeys,
    isActive(digest) {
      asked.push(digest);
      return Promise.resolve(false);
    },
  };
  const keys = issuedKeys(storage);
  const key = generateKey();
  assert.equal(await keys.verify(key), false);
  assert.deepEqual(asked, [await sha256(key)]);
});

test("verify refuses what does not have the form of an issued key without a look-up", async () => {
  const keys = issuedKeys({
    ...memoryStorage().apiKeys,
    isActive: () => assert.fail("looked up"),
  });
  const key = generateKey();
  const last = key.endsWith("0") ? "1" : "0";
  const guesses = ["", "secret", "pet_", `${key}0`, ` ${key}`, `${key}\n`]
    .concat(key.slice(0, -1) + last, key.slice(0, -1), key.slice(4))
    .concat(`Pet_${key.slice(4)}`, `pet-${key.slice(4)}`);
  for (const guess of guesses) {
    assert.equal(await keys.verify(guess), false, guess);
  }
});
