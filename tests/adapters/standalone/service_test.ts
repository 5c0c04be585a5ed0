import assert from "node:assert/strict";
import test from "node:test";
import { PROGRAM } from "../../../adapters/standalone/command_line.ts";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { standardError } from "../../../adapters/standalone/output.ts";
import { openService } from "../../../adapters/standalone/service.ts";
import { memoryStorage, StorageError } from "../../../mod.ts";

const ADDRESS = { hostname: "127.0.0.1", port: 8000 };
const CONFIG = readConfig({ DATABASE_URL: "memory:" });

/** Opens a service whose storage fails to keep the first key for these reasons, one after the other. */
function openThatFails(...reasons: Error[]) {
  return openService(CONFIG, async () => {
    const storage = memoryStorage();
    const { insertFirst } = storage.apiKeys;
    return {
      ...storage,
      apiKeys: {
        ...storage.apiKeys,
        async insertFirst(record) {
          const reason = reasons.shift();
          if (reason !== undefined) throw reason;
          return await insertFirst(record);
        },
      },
    };
  });
}

test("if the first key cannot be issued, greet says so once, and it is issued after a second, or two", async (t) => {
  const told: string[] = [];
  t.mock.method(
    standardError,
    "write",
    async (text: string) => told.push(text),
  );
  const pauses: unknown[] = [];
  const { setTimeout } = globalThis;
  t.after(() => Reflect.set(globalThis, "setTimeout", setTimeout));
  const atOnce = (
    again: (...args: unknown[]) => void,
    ms: number,
    ...args: unknown[]
  ) => {
    pauses.push(ms);
    again(...args);
  };
  const service = await openThatFails(
    new StorageError("unavailable", "It is locked"),
    new Error("It is still locked"),
  );
  Reflect.set(globalThis, "setTimeout", atOnce);
  await service.greet(ADDRESS);
  while (told.length < 3) await new Promise(setImmediate);
  assert.deepEqual(pauses, [1000, 1000]);
  const [, why, key = ""] = told;
  assert.equal(
    why,
    `No API key could be issued: It is locked
To issue one, run: ${PROGRAM} keys issue NAME
The pet store listens at http://127.0.0.1:8000/v1/pets
`,
  );
  assert.match(key, /^ {4}pet_/m);
  await service.close();
});

test("greet rejects if the first key cannot be issued because of a mistake", async () => {
  const mistake = new TypeError("wrong");
  const service = await openThatFails(mistake);
  await assert.rejects(service.greet(ADDRESS), mistake);
  await service.close();
});
