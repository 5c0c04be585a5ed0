/** Unknown names of options are refused. */
import assert from "node:assert/strict";
import test from "node:test";
import { createClient } from "../../adapters/client/mod.ts";
import { d1Storage } from "../../adapters/d1/mod.ts";
import { docs } from "../../adapters/docs/mod.ts";
import { toNodeListener } from "../../adapters/node/mod.ts";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { memoryStorage } from "../../mod.ts";

const wrong = { basePath: "/v2" } as object;
const handle = (): Response => new Response();
const binding = {} as Parameters<typeof d1Storage>[0];

/** By the name of a function, a call of it with a wrong option, and one of its options. */
const CALLS: Readonly<Record<string, readonly [() => unknown, string]>> = {
  memoryStorage: [() => memoryStorage(wrong), "idempotencyRetention"],
  d1Storage: [() => d1Storage(binding, wrong), "idempotencyRetention"],
  sqliteStorage: [() => sqliteStorage("pets.db", wrong), "lockTimeout"],
  postgresStorage: [
    () => postgresStorage("postgres://", wrong),
    "queryTimeout",
  ],
  toNodeListener: [() => toNodeListener(handle, wrong), "onError"],
  docs: [() => docs(wrong), "openApiUrl"],
  createClient: [
    () => createClient({ baseUrl: "http://a", key: "k", ...wrong }),
    "key",
  ],
};

for (const [name, [call, option]] of Object.entries(CALLS)) {
  test(`${name} refuses an option that it does not have, and names those it has`, async () => {
    await assert.rejects(async () => await call(), (error) => {
      assert.ok(error instanceof TypeError);
      assert.ok(error.message.startsWith("Unknown option basePath: "));
      assert.ok(error.message.includes(name) && error.message.includes(option));
      return true;
    });
  });
}
