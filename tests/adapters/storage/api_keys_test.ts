import assert from "node:assert/strict";
import test from "node:test";
import { apiKeyStorage } from "../../../adapters/storage/api_keys.ts";

test("each statement on API keys says in a fault what it was to do", async () => {
  const fail = (action: string) => Promise.reject(new Error(action));
  const storage = apiKeyStorage(fail, fail);
  const record = { name: "a", digest: "b", created: new Date(0) };
  const cases = [
    ["keep API key", storage.insert(record)],
    ["keep first API key", storage.insertFirst(record)],
    ["check API key", storage.isActive("b")],
    ["check API key", storage.find?.("b") ?? Promise.resolve()],
    ["list API keys", storage.list()],
    ["revoke API key", storage.revoke(1, new Date(0))],
    [
      "note the use of API key",
      storage.markUsed?.(1, new Date(0)) ?? Promise.resolve(),
    ],
  ] as const;
  for (const [action, call] of cases) {
    await assert.rejects(call, { message: action });
  }
});
