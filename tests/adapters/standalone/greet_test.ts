import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import type { PetDatabase } from "../../../adapters/storage/pet_database.ts";
import { PROGRAM } from "../../../adapters/program/command_line.ts";
import { greet } from "../../../adapters/standalone/greet.ts";
import { standardError } from "../../../adapters/standalone/output.ts";
import { run } from "../../support/process.ts";
import { openStandalone } from "../../support/server.ts";
import { memoryStorage, StorageError } from "../../../mod.ts";

/** Opens a service whose keys are issued, and returns the greeting on a terminal. */
async function open(t: TestContext, storage?: PetDatabase, settings = {}) {
  const service = await openStandalone(t, settings, storage);
  const situation = { ...service, fixedKeysFrom: undefined };
  return (hostname = "127.0.0.1") =>
    greet({ hostname, port: 8000 }, situation, true);
}

test("greet issues no key where others reach the server, as in a container", async (t) => {
  const storage = memoryStorage();
  const inFile = { ...await openStandalone(t, {}, storage), isInMemory: false };
  const service = { ...inFile, fixedKeysFrom: undefined };
  let told = "";
  t.mock.method(standardError, "write", (text: string) => void (told += text));
  for (const hostname of ["0.0.0.0", "::", "192.0.2.1", "pets.example"]) {
    await greet({ hostname, port: 8000 }, service, true);
    assert.match(told, /For an API key, run: .* keys issue NAME\n/, hostname);
    assert.doesNotMatch(told, /pet_/, hostname);
    told = "";
  }
  assert.deepEqual(await storage.apiKeys.list(), []);
  for (const hostname of ["127.0.0.1", "127.0.0.2", "::1", "localhost"]) {
    await greet({ hostname, port: 8000 }, service, true);
    assert.match(
      told,
      hostname === "127.0.0.1" ? / {4}pet_/ : /another API key/,
      hostname,
    );
    told = "";
  }
});

test("greet refuses a server in memory that nobody could get a key of", async (t) => {
  const service = { ...await openStandalone(t), fixedKeysFrom: undefined };
  for (
    const [hostname, isTerminal] of [["0.0.0.0", true], ["::1", false]] as const
  ) {
    await assert.rejects(
      greet({ hostname, port: 8000 }, service, isTerminal),
      /^Error: Cannot start without PETSTORE_API_KEYS: in memory/,
      hostname,
    );
  }
});

test("greet says that it cannot issue the first key, and how to issue one", async (t) => {
  let reason = new Error("a mistake");
  const storage = memoryStorage();
  const insertFirst = () => Promise.reject(reason);
  const apiKeys = { ...storage.apiKeys, insertFirst };
  const greeting = await open(t, { ...storage, apiKeys });
  const told: string[] = [];
  const write = (text: string) => void told.push(text);
  t.mock.method(standardError, "write", write);
  await assert.rejects(greeting, /a mistake/);
  reason = new StorageError("unavailable", "locked");
  await greeting();
  assert.equal(
    told.at(-1),
    `No API key could be issued: locked\nTo issue one, run: ${PROGRAM} keys issue NAME\n` +
      "The pet store listens at http://127.0.0.1:8000/v1/pets\n",
  );
});

test("greet issues no key, which is shown once, while nothing can be written", async (t) => {
  const storage = memoryStorage();
  const greeting = await open(t, storage);
  const written = Promise.withResolvers<boolean>();
  const begun = Promise.withResolvers<void>();
  t.mock.method(standardError, "write", () => {});
  t.mock.method(standardError, "flush", () => {
    begun.resolve();
    return written.promise;
  });
  const greeted = greeting();
  await begun.promise;
  await new Promise(setImmediate);
  assert.deepEqual(await storage.apiKeys.list(), []);
  written.resolve(true);
  await greeted;
  assert.equal((await storage.apiKeys.list()).length, 1);
});

test("the commands that greet prints take any base address literally in a shell", async (t) => {
  const baseUrl = "/it's/$(id)/!x/v1";
  const greeting = await open(t, undefined, { BASE_URL: baseUrl });
  let told = "";
  const write = (text: string) => void (told += text);
  t.mock.method(standardError, "write", write);
  await greeting();
  const commands = told.match(/(?<=^ {4})curl .*/gm) ?? [];
  assert.equal(commands.length, 2);
  for (const command of commands) {
    const [address = ""] = /\S+$/.exec(command) ?? [];
    const { stdout } = await run(["sh", "-c", `printf %s ${address}`]);
    assert.equal(stdout, `http://127.0.0.1:8000${baseUrl}/pets`, command);
  }
});
