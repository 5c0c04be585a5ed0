import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { sha256 } from "../../../core/sha256.ts";
import type {
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../../core/api_key_storage.ts";
import { generateKey } from "../../../adapters/keys/key_form.ts";
import { issuedKeys } from "../../../adapters/keys/issued_keys.ts";
import { watched } from "./watched_keys.ts";

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
    await assert.rejects(keys.issue(name), RangeError, name);
    await assert.rejects(keys.issueFirst(name), RangeError, name);
  }
  assert.deepEqual(await keys.list(), []);
});

test("issueFirst issues the very first key, and writes nothing if there is one", async () => {
  const { apiKeys } = memoryStorage();
  const keys = issuedKeys(apiKeys);
  const first = await keys.issueFirst("first key");
  assert.deepEqual(await keys.verify(first?.key ?? ""), { id: 1 });
  const insertFirst = () => assert.fail("it wrote");
  const replica = issuedKeys({ ...apiKeys, insertFirst });
  assert.equal(await replica.issueFirst("second"), undefined);
  const list = async () => []; // another process is quicker
  const slower = issuedKeys({ ...apiKeys, list });
  assert.equal(await slower.issueFirst("third"), undefined);
});

test("revoke makes one key invalid at once, and list shows it without its secret", async () => {
  const { markUsed: _, ...storage } = memoryStorage().apiKeys;
  const keys = issuedKeys(storage);
  const one = await keys.issue("one");
  const two = await keys.issue("two");
  assert.deepEqual(await keys.verify(one.key), { id: 1 });
  assert.deepEqual(await keys.verify(two.key), { id: 2 });
  const revoked = await keys.revoke(one.record.id);
  assert.ok(revoked?.revoked instanceof Date);
  assert.equal(await keys.verify(one.key), false);
  assert.deepEqual(await keys.verify(two.key), { id: 2 });
  const list = await keys.list();
  const members = list.map((each) => Object.keys(each).sort());
  assert.deepEqual(members, [
    ["created", "id", "name", "revoked"],
    ["created", "id", "name"],
  ]);
  assert.deepEqual(list.map(({ id }) => id), [1, 2]);
});

test("revoke takes the key itself, or says that the storage cannot find it", async () => {
  const { find, ...others } = memoryStorage().apiKeys;
  const keys = issuedKeys({ ...others, ...find && { find } });
  const { key, record } = await keys.issue("leaked");
  assert.equal(await keys.revoke(generateKey()), undefined);
  assert.deepEqual(await keys.verify(key), { id: record.id });
  const refused = { name: "TypeError", message: /finds keys only by id$/ };
  await assert.rejects(issuedKeys(others).revoke(key), refused);
  assert.equal((await keys.revoke(key))?.id, record.id);
  assert.equal(await keys.verify(key), false);
});

test("a key that another process revoked is refused within a second, by any clock", async (t) => {
  let time = 5000;
  t.mock.method(performance, "now", () => time);
  const { apiKeys } = memoryStorage();
  const keys = issuedKeys(apiKeys);
  const { key, record } = await keys.issue("shop");
  assert.deepEqual(await keys.verify(key), { id: record.id });
  await apiKeys.revoke(record.id, new Date());
  time = 5999;
  assert.deepEqual(await keys.verify(key), { id: record.id });
  time = 6000;
  assert.equal(await keys.verify(key), false);
});

test("verify refuses what does not have the form of an issued key without a look-up", async () => {
  const keys = issuedKeys({
    ...memoryStorage().apiKeys,
    isActive: () => assert.fail("looked up"),
    find: () => assert.fail("looked up"),
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

test("verify refuses a key whose expiry is no date", async () => {
  const { apiKeys } = memoryStorage();
  const keys = issuedKeys({
    ...apiKeys,
    async find(digest) {
      const record = await apiKeys.find?.(digest);
      return record && { ...record, expires: new Date(NaN) };
    },
  });
  assert.equal(await keys.verify((await keys.issue("one")).key), false);
});

test("verify refuses an expired key from its time on, although it was looked up before", async (t) => {
  const { storage, state } = watched(t);
  const keys = issuedKeys(storage);
  const expires = new Date(state.time + 2500);
  const { key, record } = await keys.issue("guest", { expires });
  assert.deepEqual(record.expires, expires);
  const times = [[0, true], [2400, true], [2499, true], [2500, false]] as const;
  const start = state.time;
  for (const [passed, isValid] of times) {
    state.time = start + passed;
    assert.equal(await keys.verify(key) !== false, isValid, `${passed}`);
  }
  assert.deepEqual((await keys.list())[0]?.expires, expires);
});

test("issue throws for an expiry that is not in the future, or that is not kept", async (t) => {
  const { storage, state } = watched(t);
  const keys = issuedKeys(storage);
  for (const time of [state.time, NaN]) {
    const expires = new Date(time);
    await assert.rejects(keys.issue("a", { expires }), RangeError, `${time}`);
  }
  const wrong = { expires: "2030-01-01" } as unknown as { expires: Date };
  await assert.rejects(keys.issue("a", wrong), RangeError);
  const expires = new Date(state.time + 1);
  const typo = { expiry: expires } as object;
  await assert.rejects(
    keys.issue("a", typo),
    /Unknown option expiry: issue accepts expires/,
  );
  const { find, markUsed, ...others } = storage;
  for (const part of [{ find }, { markUsed }, {}]) {
    const lacking = issuedKeys({ ...others, ...part } as ApiKeyStorage);
    const refused = {
      name: "TypeError",
      message: /this storage keeps no expiry$/,
    };
    await assert.rejects(
      lacking.issue("a", { expires }),
      refused,
      `${Object.keys(part)}`,
    );
  }
  assert.deepEqual(await keys.list(), []);
});

test("verify works without find and markUsed of the storage: keys have no ids then", async () => {
  const { find: _find, markUsed: _mark, ...storage } = memoryStorage().apiKeys;
  const keys = issuedKeys(storage);
  const { key, record } = await keys.issue("a");
  assert.equal(await keys.verify(key), true);
  await keys.revoke(record.id);
  assert.equal(await keys.verify(key), false);
});

test("issuedKeys says that it takes the member apiKeys of a storage", () => {
  const refused = { name: "TypeError", message: /pass storage\.apiKeys$/ };
  assert.throws(() => issuedKeys(memoryStorage() as never), refused);
  assert.throws(() => issuedKeys({} as never), /with a method isActive$/);
});
