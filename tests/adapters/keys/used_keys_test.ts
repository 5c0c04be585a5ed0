/** When issued keys were last used: how it is noted, and what may go wrong. */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { nextTask } from "../../support/time.ts";
import {
  type IssuedKey,
  issuedKeys,
} from "../../../adapters/keys/issued_keys.ts";
import { watched } from "./watched_keys.ts";

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
