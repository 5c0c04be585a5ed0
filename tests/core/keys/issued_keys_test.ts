import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { sha256 } from "../../../core/sha256.ts";
import { generateKey } from "../../../core/keys/key_form.ts";
import {
  issuedKeys,
  type NewApiKeyRecord,
} from "../../../core/keys/issued_keys.ts";

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

test("issue throws a RangeError for a name that a pet could not have", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  for (const name of ["", "x".repeat(256), "a\nb", "\ud83d"]) {
    await assert.rejects(keys.issue(name), RangeError);
    await assert.rejects(keys.issueFirst(name), RangeError);
  }
  assert.deepEqual(await keys.list(), []);
});

test("issueFirst issues the very first key, and writes nothing if there is one, as on a read replica", async () => {
  const { apiKeys } = memoryStorage();
  const keys = issuedKeys(apiKeys);
  const first = await keys.issueFirst("first key");
  assert.equal(await keys.verify(first?.key ?? ""), true);
  const insertFirst = () => assert.fail("it wrote");
  const replica = issuedKeys({ ...apiKeys, insertFirst });
  assert.equal(await replica.issueFirst("second"), undefined);
  const list = async () => []; // another process is quicker
  const slower = issuedKeys({ ...apiKeys, list });
  assert.equal(await slower.issueFirst("third"), undefined);
});

test("revoke makes a key invalid at once, and that key alone; list shows both, without a secret", async () => {
  const keys = issuedKeys(memoryStorage().apiKeys);
  const one = await keys.issue("one");
  const two = await keys.issue("two");
  assert.equal(await keys.verify(one.key), true);
  assert.equal(await keys.verify(two.key), true);
  const revoked = await keys.revoke(one.record.id);
  assert.ok(revoked?.revoked instanceof Date);
  assert.equal(await keys.verify(one.key), false);
  assert.equal(await keys.verify(two.key), true);
  const list = await keys.list();
  const members = list.map((each) => Object.keys(each).sort());
  assert.deepEqual(members, [
    ["created", "id", "name", "revoked"],
    ["created", "id", "name"],
  ]);
  assert.deepEqual(list.map(({ id }) => id), [1, 2]);
});

test("revoke takes the key itself: the storage finds its record by the digest, or a TypeError says that it cannot", async () => {
  const { find, ...others } = memoryStorage().apiKeys;
  const keys = issuedKeys({ ...others, ...find && { find } });
  const { key, record } = await keys.issue("leaked");
  assert.equal(await keys.revoke(generateKey()), undefined);
  assert.equal(await keys.verify(key), true);
  const refused = { name: "TypeError", message: /finds keys only by id$/ };
  await assert.rejects(issuedKeys(others).revoke(key), refused);
  assert.equal((await keys.revoke(key))?.id, record.id);
  assert.equal(await keys.verify(key), false);
});

test("a key that another process revoked is refused a second after it was looked up, whatever the system's clock says", async (t) => {
  let time = 5000;
  t.mock.method(performance, "now", () => time);
  const { apiKeys } = memoryStorage();
  const keys = issuedKeys(apiKeys);
  const { key, record } = await keys.issue("shop");
  assert.equal(await keys.verify(key), true);
  await apiKeys.revoke(record.id, new Date());
  time = 5999;
  assert.equal(await keys.verify(key), true);
  time = 6000;
  assert.equal(await keys.verify(key), false);
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
