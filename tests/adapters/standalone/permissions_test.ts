/** Permissions that the server lacks. */
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { ask } from "../../contract/ask.ts";
import { assertError } from "../../contract/error_reply.ts";
import { REX, REX_JSON } from "../../support/pets.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  missing,
  RUNTIME,
  testUnless,
} from "../../support/runtime.ts";
import { run, startProgram } from "../../support/process.ts";
import {
  MAIN,
  startMain,
  taskFlags,
  untilListening,
} from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const skip = RUNTIME !== "deno" && "only Deno has permissions";
const onDeno = { test: testUnless(skip) };
const NO_SETPRIV = missing("setpriv");

onDeno.test("a server of a clone without permissions says how to grant them", async (t) => {
  // Without any --allow, Deno 2.9's node:child_process adds -A.
  const flags = ["--no-prompt", "--allow-net"];
  const command = [...commandLine(MAIN, flags), "start", "--port", "0"];
  const { code, stderr } = await run(command, { cwd: newFolder(t) });
  assert.match(stderr, /^Requires env access to "\w+", run again with -P$/m);
  assert.equal(code, 1);
});

testUnless(skip || NO_SETPRIV)(
  "a file of another user is refused with its reason",
  async (t) => {
    const cwd = newFolder(t);
    const path = join(cwd, "petstore.db");
    await (await sqliteStorage(path)).close();
    chmodSync(path, 0o400);
    const isRoot = process.getuid?.() === 0;
    const prefix = isRoot ? ["setpriv", "--bounding-set=-dac_override"] : [];
    const command = [...prefix, ...commandLine(MAIN, taskFlags("start"))];
    const { code, stderr } = await run([...command, "start", "--port", "0"], {
      cwd,
    });
    assert.equal(code, 1);
    assert.match(stderr, /this user must be able to read and write .*\.db; /);
  },
);

onDeno.test("a server on SQLite lets no old log damage a file that replaced its own", async (t) => {
  const cwd = newFolder(t);
  const path = join(cwd, "petstore.db");
  const before = await sqliteStorage(path);
  await before.create(REX);
  await before.close();
  copyFileSync(path, `${path}.backup`);
  const server = await startMain(t, { cwd });
  await ask(server, "POST", "/v1/pets", { body: REX_JSON });
  renameSync(path, `${path}.old`);
  renameSync(`${path}.backup`, path);
  assert.equal(await server.end(), 0);
  assert.match(
    server.stderr(),
    /replaced while in use: the old file, wherever it is, now has all pets/,
  );
  const storage = await sqliteStorage(path);
  assert.equal((await storage.list({ limit: 9 })).pets.length, 1);
  await storage.close();
});

onDeno.test("a server that cannot read the page says so in its place, and serves on", async (t) => {
  const cwd = newFolder(t);
  const page = pathOf("adapters/docs/page.html");
  const flags = [...taskFlags("start"), `--deny-read=${page}`];
  const env = { DATABASE_URL: "memory:", PETSTORE_API_KEYS: "secret" };
  const command = [...commandLine(MAIN, flags), "start", "--port", "0"];
  const server = await untilListening(startProgram(t, command, { cwd, env }));
  const problem = "Cannot read ./page.html, which the docs page needs";
  // Last: the server works without it.
  assert.match(server.stderr(), RegExp(`listens at .*\\n${problem}.*\\n$`));
  const told = await ask(server, "GET", "/");
  assert.ok(assertError(told, "not_found").startsWith(problem));
  assert.equal((await ask(server, "GET", "/v1/pets")).status, 401);
  assert.equal(await server.end(), 0);
});
