import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { sha256 } from "../../../core/sha256.ts";
import type {
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../../core/api_key_storage.ts";
import { nextTask } from "../../support/time.ts";
import { generateKey } from "../../../adapters/keys/key_form.ts";
import {
  type IssuedKey,
  type IssuedKeys,
  issuedKeys,
} from "../../../adapters/keys/issued_keys.ts";

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

/** A storage of keys, with the recorded uses, and the time, which the test sets. */
function watched(t: TestContext) {
  const { apiKeys } = memoryStorage();
  const noted: (readonly [ids: readonly number[], day: string])[] = [];
  const state = { time: Date.parse("2026-11-26T23:57:59.000Z") };
  t.mock.method(Date, "now", () => state.time);
  t.mock.method(performance, "now", () => state.time);
  const storage: ApiKeyStorage = {
    ...apiKeys,
    async markAllUsed(ids, day) {
      noted.push([ids, day.toISOString().slice(0, 10)]);
      for (const id of ids) await apiKeys.markUsed?.(id, day);
    },
  };
  /** Uses keys. */
  const use = async (keys: IssuedKeys, ...all: IssuedKey[]) => {
    for (const { key, record } of all) {
      assert.deepEqual(await keys.verify(key), { id: record.id }, key);
    }
    await nextTask();
    await nextTask();
  };
  return { storage, noted, state, use };
}

const MINUTE = 60_000;

test("verify notes used keys once a day, together, when a later minute begins", async (t) => {
  const { storage, noted, state, use } = watched(t);
  const keys = issuedKeys(storage);
  const [one, two] = [await keys.issue("one"), await keys.issue("two")];
  const three = await keys.issue("three");
  await use(keys, one, two, one);
  assert.deepEqual(noted, []);
  state.time += 1000; // 23:58:00
  await use(keys, three);
  assert.deepEqual(noted, [[[1, 2], "2026-11-26"]]);
  state.time += MINUTE;
  await use(keys, one, two); // they are noted for today
  assert.deepEqual(noted.slice(1), [[[3], "2026-11-26"]]);
  await use(issuedKeys(storage), one, two, three); // on another server
  state.time += MINUTE; // the next day
  await use(keys, one);
  assert.equal(noted.length, 2);
  await keys.flush();
  assert.deepEqual(noted.slice(2), [[[1], "2026-11-27"]]);
  const days = (await keys.list()).map((key) => key.lastUsed?.toISOString());
  const midnight = "T00:00:00.000Z";
  assert.deepEqual(days, [
    `2026-11-27${midnight}`,
    `2026-11-26${midnight}`,
    `2026-11-26${midnight}`,
  ]);
});

test("verify works without markAllUsed, and flush writes nothing twice", async (t) => {
  const { storage, use } = watched(t);
  const { markAllUsed: _, ...older } = storage;
  const noted: number[] = [];
  const keys = issuedKeys({
    ...older,
    async markUsed(id, day) {
      noted.push(id);
      await older.markUsed?.(id, day);
    },
  });
  const all = [await keys.issue("one"), await keys.issue("two")];
  await keys.flush();
  await use(keys, ...all);
  await Promise.all([keys.flush(), keys.flush()]);
  await keys.flush();
  assert.deepEqual(noted, [1, 2]);
});

test("while a write hangs no other begins, and verify goes on", async (t) => {
  const { storage, noted, state, use } = watched(t);
  const hanging = Promise.withResolvers<void>();
  let begun = 0;
  const keys = issuedKeys({
    ...storage,
    async markAllUsed(ids, day) {
      begun++;
      await hanging.promise;
      await storage.markAllUsed?.(ids, day);
    },
  });
  const one = await keys.issue("one");
  const others: IssuedKey[] = [];
  await use(keys, one);
  for (let i = 0; i < 400; i++) {
    state.time += 60; // 24 s in all
    others.push(await keys.issue("other"));
    await use(keys, ...others.slice(-1));
  }
  state.time += MINUTE; // still the same day
  await use(keys, one);
  assert.equal(begun, 1);
  hanging.resolve();
  await keys.flush();
  assert.equal(begun, 2);
  const ids = noted.flatMap(([ids]) => ids);
  assert.deepEqual(
    [...new Set(ids)].sort((a, b) => a - b),
    Array.from({ length: 401 }, (_, i) => i + 1),
  );
});

test("a write that was dropped holds up others for five minutes only", async (t) => {
  const { storage, noted, state, use } = watched(t);
  let begun = 0;
  const keys = issuedKeys({
    ...storage,
    markAllUsed(ids, day) {
      begun++;
      if (begun === 1) return new Promise<void>(() => {});
      return storage.markAllUsed?.(ids, day) ?? assert.fail();
    },
  });
  const [one, two] = [await keys.issue("one"), await keys.issue("two")];
  await use(keys, one);
  state.time += 2 * MINUTE;
  await use(keys, two);
  assert.equal(begun, 1);
  state.time += 5 * MINUTE;
  await use(keys, one);
  assert.deepEqual([begun, noted], [2, [[[2], "2026-11-26"]]]);
  await keys.flush();
  assert.deepEqual(noted.slice(1), [[[1], "2026-11-27"]]);
});

test("what cannot be written is told once, and tried again on the next day", async (t) => {
  const { storage, noted, state, use } = watched(t);
  const told: unknown[] = [];
  let attempts = 0;
  const keys = issuedKeys({
    ...storage,
    markAllUsed(ids, day) {
      attempts++;
      return state.time < Date.parse("2026-11-27")
        ? Promise.reject(new Error("read-only"))
        : storage.markAllUsed?.(ids, day) ?? assert.fail();
    },
  }, {
    onError(error) {
      told.push(error);
      throw error;
    },
  });
  const [one, two] = [await keys.issue("one"), await keys.issue("two")];
  await use(keys, one);
  state.time += 1000;
  await use(keys, two);
  state.time += MINUTE;
  await use(keys, one, two);
  await keys.flush();
  assert.deepEqual([attempts, noted], [1, []]);
  assert.deepEqual(told, [new Error("read-only")]);
  state.time += MINUTE;
  await use(keys, one, two);
  await keys.flush();
  assert.deepEqual(noted, [[[1, 2], "2026-11-27"]]);
});

test("verify replaces a last-used day that is more than a day ahead of its clock", async (t) => {
  const { storage, noted, state, use } = watched(t);
  const keys = issuedKeys(storage);
  const [one, two] = [await keys.issue("one"), await keys.issue("two")];
  await storage.markUsed?.(1, new Date("2026-11-28T00:00:00Z"));
  await storage.markUsed?.(2, new Date("2026-11-27T00:00:00Z"));
  state.time += 1000;
  await use(keys, one, two);
  await keys.flush();
  assert.deepEqual(noted, [[[1], "2026-11-26"]]);
  const days = (await keys.list()).map((key) => key.lastUsed?.toISOString());
  assert.deepEqual(days.map((day) => day?.slice(8, 10)), ["26", "27"]);
});

test("verify writes nothing, and tells nothing, once its storage is closed", async () => {
  const storage = memoryStorage();
  const told: unknown[] = [];
  const keys = issuedKeys(storage.apiKeys, { onError: (e) => told.push(e) });
  const { key } = await keys.issue("one");
  await keys.verify(key);
  await storage.close();
  await nextTask();
  await nextTask();
  assert.deepEqual(told, []);
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
