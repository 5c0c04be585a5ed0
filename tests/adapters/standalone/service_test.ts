import assert from "node:assert/strict";
import test from "node:test";
import { PROGRAM } from "../../../adapters/standalone/command_line.ts";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { standardError } from "../../../adapters/standalone/output.ts";
import { openService } from "../../../adapters/standalone/service.ts";
import { toHandler } from "../../../core/http/fetch_handler.ts";
import { run } from "../../support/process.ts";
import { turns } from "../../support/time.ts";
import { issuedKeys, memoryStorage, StorageError } from "../../../mod.ts";

test("greet says once that it cannot issue the first key, and tries every second", async (t) => {
  const reasons = [new Error("a mistake")];
  const config = readConfig({ DATABASE_URL: "memory:" });
  const { greet, close } = await openService(config, {
    isTerminal: true,
    async open() {
      const storage = memoryStorage();
      const { insertFirst, ...others } = storage.apiKeys;
      const failing: typeof insertFirst = async (record) => {
        const reason = reasons.shift();
        if (reason !== undefined) throw reason;
        return await insertFirst(record);
      };
      return { ...storage, apiKeys: { ...others, insertFirst: failing } };
    },
  });
  const told: string[] = [];
  const write = async (text: string) => told.push(text);
  t.mock.method(standardError, "write", write);
  const pauses: number[] = [];
  const { setTimeout } = globalThis;
  t.after(() => Reflect.set(globalThis, "setTimeout", setTimeout));
  const atOnce = (again: typeof greet, ms: number, ...args: [never]) => {
    pauses.push(ms);
    again(...args);
  };
  Reflect.set(globalThis, "setTimeout", atOnce);

  const address = { hostname: "127.0.0.1", port: 8000 };
  await assert.rejects(greet(address), /a mistake/);
  told.length = 0;
  reasons.push(new StorageError("unavailable", "locked"), new Error("still"));
  await greet(address);
  while (told.length < 3) await new Promise(setImmediate);
  assert.deepEqual(pauses, [1000, 1000]);
  const [, problem, key = ""] = told;
  assert.equal(
    problem,
    `No API key could be issued: locked\nTo issue one, run: ${PROGRAM} keys issue NAME\n` +
      "The pet store listens at http://127.0.0.1:8000/v1/pets\n",
  );
  assert.match(key, /^ {4}pet_/m);
  await close();
});

test("greet issues no key, which is shown once, while nothing can be written", async (t) => {
  const config = readConfig({ DATABASE_URL: "memory:" });
  const storage = memoryStorage();
  const open = async () => storage;
  const { greet, close } = await openService(config, {
    isTerminal: true,
    open,
  });
  const written = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  t.mock.method(standardError, "write", () => {
    begun.resolve();
    return written.promise;
  });
  const greeted = greet({ hostname: "127.0.0.1", port: 8000 });
  await begun.promise;
  await new Promise(setImmediate);
  assert.deepEqual(await storage.apiKeys.list(), []);
  written.resolve();
  await greeted;
  assert.equal((await storage.apiKeys.list()).length, 1);
  await close();
});

test("a server logs that it cannot note the use of keys, unless it is closed", async (t) => {
  const storage = memoryStorage();
  const { record: _, key } = await issuedKeys(storage.apiKeys).issue("a");
  const told: string[] = [];
  t.mock.method(
    standardError,
    "write",
    async (text: string) => told.push(text),
  );
  for (const isLate of [false, true]) {
    const begun = Promise.withResolvers<void>();
    const failing = Promise.withResolvers<void>();
    const markUsed = () => {
      begun.resolve();
      return failing.promise;
    };
    const config = readConfig({ DATABASE_URL: "memory:", REQUEST_LOG: "off" });
    const { answer, close } = await openService(config, {
      open: async () => ({
        ...storage,
        apiKeys: { ...storage.apiKeys, markUsed },
        close: async () => {},
      }),
    });
    const headers = { authorization: `Bearer ${key}` };
    const request = new Request("http://localhost/v1/pets", { headers });
    assert.equal((await toHandler(answer)(request)).status, 200);
    await begun.promise;
    if (isLate) await close();
    failing.reject(new StorageError("unavailable", "full"));
    await turns();
    assert.equal(told.splice(0).length, isLate ? 0 : 1);
    await close();
  }
});

test("the commands that greet prints take any base address literally in a shell", async (t) => {
  const baseUrl = "/it's/$(id)/!x/v1";
  const config = readConfig({ DATABASE_URL: "memory:", BASE_URL: baseUrl });
  const { greet, close } = await openService(config, { isTerminal: true });
  let told = "";
  const write = async (text: string) => void (told += text);
  t.mock.method(standardError, "write", write);
  await greet({ hostname: "127.0.0.1", port: 8000 });
  await close();
  const commands = told.match(/(?<=^ {4})curl .*/gm) ?? [];
  assert.equal(commands.length, 2);
  for (const command of commands) {
    const [address = ""] = /\S+$/.exec(command) ?? [];
    const { stdout } = await run(["sh", "-c", `printf %s ${address}`]);
    assert.equal(stdout, `http://127.0.0.1:8000${baseUrl}/pets`);
  }
});
