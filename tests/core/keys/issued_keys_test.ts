import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { sha256 } from "../../../core/sha256.ts";
import { nextTask, until } from "../../support/time.ts";
import { generateKey } from "../../../core/keys/key_form.ts";
import type {
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../../core/keys/api_key_storage.ts";
import {
  type IssuedKey,
  type IssuedKeys,
  issuedKeys,
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

/** A storage of keys, with the recorded uses, and the time, which the test sets. */
function watched(t: TestContext) {
  const { apiKeys } = memoryStorage();
  const noted: (readonly [id: number, day: string])[] = [];
  const state = { time: Date.parse("2026-11-26T23:59:58.500Z") };
  t.mock.method(Date, "now", () => state.time);
  t.mock.method(performance, "now", () => state.time);
  const storage: ApiKeyStorage = {
    ...apiKeys,
    async markUsed(id, day) {
      noted.push([id, day.toISOString()]);
      await apiKeys.markUsed?.(id, day);
    },
  };
  return { storage, noted, state };
}

test("verify notes the use of a key once a day, on the first server that sees it", async (t) => {
  const { storage, noted, state } = watched(t);
  const keys = issuedKeys(storage);
  const [one, two] = [await keys.issue("one"), await keys.issue("two")];
  let expected = 0;
  /** Uses keys at once. This many are then recorded, each in its own task. */
  const use = async (keys: IssuedKeys, count: number, ...all: IssuedKey[]) => {
    await Promise.all(all.map(({ key }) => keys.verify(key)));
    expected += count;
    await until("they are noted", () => noted.length >= expected);
    await nextTask();
    await nextTask();
  };
  await use(keys, 1, one, one);
  await use(keys, 1, two);
  state.time += 1000;
  await use(keys, 0, one); // looked up again
  await use(issuedKeys(storage), 0, one, two); // another server
  const day = "2026-11-26T00:00:00.000Z";
  state.time += 1000;
  await use(keys, 1, one);
  const next = "2026-11-27T00:00:00.000Z";
  assert.deepEqual(noted, [[1, day], [2, day], [1, next]]);
  const days = (await keys.list()).map((key) => key.lastUsed?.toISOString());
  assert.deepEqual(days, [next, day]);
});

test("verify does not wait for notes, which are one at a time; one fault a day is told", async (t) => {
  const { storage, state } = watched(t);
  const told: unknown[] = [];
  const begun: number[] = [];
  const writes: PromiseWithResolvers<void>[] = [];
  const keys = issuedKeys({
    ...storage,
    markUsed(id) {
      begun.push(id);
      const write = Promise.withResolvers<void>();
      writes.push(write);
      return write.promise;
    },
  }, {
    onError(error) {
      told.push(error);
      throw error;
    },
  });
  /** Waits until a write has begun, and ends it. */
  const settle = async (id: number, error?: Error) => {
    await until(`${id} is written`, () => begun.includes(id));
    assert.equal(begun.at(-1), id); // the next has to wait
    if (error === undefined) writes.pop()?.resolve();
    else writes.pop()?.reject(error);
  };
  const use = async () => await keys.verify((await keys.issue("key")).key);
  assert.deepEqual([await use(), await use(), await use()], [
    { id: 1 },
    { id: 2 },
    { id: 3 },
  ]);
  await settle(1, new Error("one"));
  await settle(2);
  await settle(3, new Error("three"));
  state.time += 2000; // the next day
  await use();
  await settle(4, new Error("four"));
  await until("it is told", () => told.length > 1);
  assert.deepEqual(told, [new Error("one"), new Error("four")]);
});

test("verify tries again in the next minute to note a use, not at each look-up", async (t) => {
  const { storage, noted, state } = watched(t);
  let attempts = 0;
  const told = Promise.withResolvers<unknown>();
  const keys = issuedKeys({
    ...storage,
    markUsed: (id, day) =>
      ++attempts === 1
        ? Promise.reject(new Error("away"))
        : storage.markUsed?.(id, day) ?? assert.fail(),
  }, { onError: told.resolve });
  const { key } = await keys.issue("one");
  await keys.verify(key);
  await told.promise;
  state.time += 1000; // still 23:59
  await keys.verify(key);
  await nextTask();
  await nextTask();
  assert.deepEqual([attempts, noted], [1, []]);
  state.time += 1000;
  await keys.verify(key);
  await until("it is noted", () => noted.length === 1);
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
    await assert.rejects(keys.issue("a", { expires }), RangeError);
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
    await assert.rejects(lacking.issue("a", { expires }), refused);
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
