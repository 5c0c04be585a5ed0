/** Permissions that the server drops once its database is open, or lacks. */
import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { giveBackPermissions } from "../../../adapters/standalone/open_storage.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { ask } from "../../contract/ask.ts";
import { assertError } from "../../contract/error_reply.ts";
import { REX, REX_JSON } from "../../support/pets.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  missing,
  RUNTIME,
  testUnless,
} from "../../support/runtime.ts";
import { freePort, run, startProgram } from "../../support/process.ts";
import {
  MAIN,
  startMain,
  taskFlags,
  untilListening,
} from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const skip = RUNTIME !== "deno" && "only Deno has permissions";
const it = testUnless(skip);
const NO_SETPRIV = missing("setpriv");
const postgres = await sharedPostgres();
const PROGRAM = pathOf("tests/adapters/standalone/permissions_program.ts");

/** Runs the program in a folder, and returns the attempts that were refused. */
async function refusals(
  cwd: string,
  DATABASE_URL: string,
  count: number,
): Promise<string> {
  writeFileSync(join(cwd, "readable.txt"), "text");
  const command = commandLine(PROGRAM, taskFlags("start"));
  const args = [await freePort(), count].map(String);
  const { code, stdout, stderr } = await run([...command, ...args], {
    cwd,
    env: { DATABASE_URL, PETSTORE_API_KEYS: "sesame", REQUEST_LOG: "off" },
  });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Read and try it at/m);
  return stdout.trim();
}

it("a server of a clone without permissions says how to grant them", async (t) => {
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

it("a server on SQLite writes its database and nothing else", async (t) => {
  const cwd = newFolder(t);
  const path = join(cwd, "pets.db");
  // So many that SQLite moves its log into the file meanwhile.
  const refused = await refusals(cwd, `sqlite:${path}`, 600);
  assert.equal(refused, "write, remove, open another database");
  assert.equal(existsSync(`${path}-wal`), false, "the log is gone at the end");
  const storage = await sqliteStorage(path);
  const { pets } = await storage.list({ limit: 1, after: 599n });
  assert.equal(pets.length, 1);
  await storage.close();
});

it("a server on SQLite lets no old log damage a file that replaced its own", async (t) => {
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
  assert.match(server.stderr(), /replaced while in use: its log is now in/);
  for (const [file, count] of [[path, 1], [`${path}.old`, 2]] as const) {
    const storage = await sqliteStorage(file);
    assert.equal((await storage.list({ limit: 9 })).pets.length, count);
    await storage.close();
  }
});

testUnless(skip || postgres.skip)(
  "a server on PostgreSQL neither writes nor reads files",
  async (t) => {
    const cwd = newFolder(t);
    const refused = await refusals(cwd, await postgres.emptyDatabase(), 3);
    assert.equal(refused, "write, remove, open another database, read");
  },
);

it("a server keeps the permissions of its database: SQLite reads, a socket both", async (t) => {
  const [file, device] = ["pets.db", "link.db"]
    .map((name) => join(newFolder(t), name)) as [string, string];
  writeFileSync(file, "");
  symlinkSync("/dev/null", device);
  const revoked: string[] = [];
  type Name = Deno.PermissionDescriptor;
  const revoke = async ({ name }: Name) => revoked.push(name);
  t.mock.method(Deno.permissions, "revoke", revoke);
  const cases = [
    ["memory:", ["read", "write"]],
    [`sqlite:${file}`, ["write"]],
    [`sqlite:${device}`, []],
    ["postgres://a,b/pets", ["read", "write"]],
    ["postgres://me@/pets?host=/run/postgresql", []],
  ] as const;
  for (const [url, expected] of cases) {
    await giveBackPermissions(readConfig({ DATABASE_URL: url }).database);
    assert.deepEqual(revoked.splice(0), expected, url);
  }
});

it("a server that cannot read the page says so in its place, and serves on", async (t) => {
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
