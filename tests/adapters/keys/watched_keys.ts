/** Issued keys whose uses are recorded, at a time that the test sets. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import type { ApiKeyStorage } from "../../../core/api_key_storage.ts";
import { nextTask } from "../../support/time.ts";
import type {
  IssuedKey,
  IssuedKeys,
} from "../../../adapters/keys/issued_keys.ts";

/** A storage of keys, with the recorded uses, and the time, which the test sets. */
export function watched(t: TestContext) {
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
