/** The command `keys`, also while a server runs. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { REVOCATION_DELAY } from "../../../adapters/keys/issued_keys.ts";
import { generateKey } from "../../../adapters/keys/key_form.ts";
import { ask } from "../../contract/ask.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { run, startProgram } from "../../support/process.ts";
import { RUNTIME, testUnless } from "../../support/runtime.ts";
import {
  MAIN,
  mainCommand,
  runMain,
  startMain,
} from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";

const { skip, emptyDatabase } = await sharedPostgres();

test("keys issues a key, lists it, and revokes it, also for a running server", async (t) => {
  const server = await startMain(t);
  const { cwd } = server;
  // From right to left, the beginning of a command on a terminal, and one of two UTF-16 units.
  const name = "two \u202Ewords\u009b\u{e0001}";
  const issued = await runMain(["keys", "issue", name], { cwd });
  assert.equal(issued.code, 0);
  const [, key] =
    /^Key 1 for two \uFFFDwords\uFFFD{2}\. .*:\n\n {4}(pet_\w{38})\n\n$/
      .exec(issued.stdout) ?? [];
  assert.ok(key !== undefined);
  const other = { ...server, key };
  assert.equal((await ask(other, "GET", "/v1/pets")).status, 200);

  const table = await runMain(["keys", "list"], { cwd });
  assert.match(
    table.stdout,
    RegExp(
      "^ID {4}CREATED {14}LAST USED {2}EXPIRES {14}REVOKED {14}NAME\n" +
        String.raw`1 {5}\S{20} - {10}- {20}- {20}two \uFFFDwords\S+\n$`,
    ),
  );
  assert.doesNotMatch(table.stdout, /pet_/);

  const missing = await runMain(["keys", "revoke", "999999999"], { cwd });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^Cannot find key 9{9}: /m);
  const revoked = await runMain(["keys", "revoke", "1", "--json"], { cwd });
  assert.match(revoked.stdout, /"two \\u202ewords\\u009b\\udb40\\udc01"/);
  const record = JSON.parse(revoked.stdout);
  assert.deepEqual([record.id, record.name], [1, name]);
  const deadline = Date.parse(record.revoked) + REVOCATION_DELAY;
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, deadline - Date.now()))
  );
  assert.equal((await ask(other, "GET", "/v1/pets")).status, 401);
  assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);

  const today = new Date().toISOString().slice(0, 10);
  assert.equal(await server.end(), 0); // it records which keys were used
  const listed = await runMain(["keys", "list", "--json"], { cwd });
  const [one, ...others] = JSON.parse(listed.stdout);
  assert.deepEqual([one.revoked, others], [record.revoked, []]);
  assert.ok(one.lastUsed >= today, one.lastUsed);
});

test("keys issue shows when a key expires, and keys list too", async (t) => {
  const cwd = newFolder(t);
  const began = Date.now();
  const issue = ["keys", "issue", "guest", "--expires", "3650d"];
  const issued = await runMain(issue, { cwd });
  const until = String.raw`valid until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\.`;
  const told = RegExp(`^Key 1 for guest, ${until} `).exec(issued.stdout);
  const list = await runMain(["keys", "list"], { cwd });
  assert.match(list.stdout, RegExp(`Z - {10}${told?.[1]} - {20}guest\n$`));
  const json = await runMain(["keys", "list", "--json"], { cwd });
  const [{ expires, lastUsed }] = JSON.parse(json.stdout);
  const days = (Date.parse(expires) - began) / 86_400_000;
  assert.ok(days >= 3650 && days < 3650.1, expires);
  assert.equal(lastUsed, null);
});

const onPostgres = { test: testUnless(skip) };

onPostgres.test("keys ends without waiting until a connection to PostgreSQL is idle for 30 s", async (t) => {
  const cwd = newFolder(t);
  const env = { DATABASE_URL: await emptyDatabase() };
  const command = mainCommand(["keys", "list"]);
  const program = startProgram(t, command, { cwd, env });
  const isOpen = () => /^Database: .*\n/m.test(program.stderr());
  await until("the database is open", isOpen);
  const began = performance.now();
  assert.equal(await program.exited, 0);
  assert.ok(performance.now() - began < 25_000);
  const { host, pathname } = new URL(env.DATABASE_URL);
  const named = `Database: postgres://${host}${pathname}\n`;
  // A busy server may be waited for, which is told too.
  assert.ok(program.stderr().includes(named), program.stderr());
});

testUnless(RUNTIME !== "node" && "only Node 22 warns of SQLite")(
  "a command hides that Node warns of SQLite, and nothing else it warns of",
  async (t) => {
    const cwd = newFolder(t);
    const later = "setTimeout(()=>process.emitWarning('x'),1000)";
    const flags = ["--import", `data:text/javascript,${later}`];
    const command = [process.execPath, ...flags, MAIN, "keys", "issue", "a"];
    const { stderr } = await run(command, { cwd });
    const told = /^Made a new .*\n\(node:\d+\) Warning: x\n\(Use .*\n$/;
    assert.match(stderr, told);
  },
);

test("keys issue issues nothing if standard output is closed, or /dev/null", async (t) => {
  for (const form of ["--quiet", "--json", "--expires=9d"]) {
    for (const output of [">&-", ">/dev/null"]) {
      const cwd = newFolder(t);
      const command = mainCommand(["keys", "issue", "a", form]);
      const shell = ["sh", "-c", `exec "$@" ${output}`, "sh"];
      const { code, stderr } = await run([...shell, ...command], { cwd });
      assert.match(stderr, /^Cannot issue a key: nobody would see it/, output);
      assert.deepEqual([code, readdirSync(cwd)], [1, []], output);
    }
  }
});

test("keys revoke takes the key itself, also from standard input, and never shows it", async (t) => {
  const cwd = newFolder(t);
  const issue = ["keys", "issue", "leaked", "--quiet"];
  const [first, second] = [
    (await runMain(issue, { cwd })).stdout.trim(),
    (await runMain(issue, { cwd })).stdout.trim(),
  ];
  const byKey = await runMain(["keys", "revoke", first], { cwd });
  assert.match(byKey.stdout, /^Key 1 for leaked was revoked at /);
  const command = mainCommand(["keys", "revoke", "-"]);
  const revoking = startProgram(t, command, { cwd, isInteractive: true });
  revoking.send(` ${second} `);
  assert.equal(await revoking.endInput(), 0);
  assert.match(revoking.stdout(), /^Key 2 for leaked was revoked at /);

  const env = { PETSTORE_API_KEYS: `sesame,${second}` };
  const cases = [
    ["sesame", /^Cannot revoke a fixed key: /, 1],
    [second, /^Cannot revoke a fixed key: /, 1],
    [`${first}x`, /^Cannot read KEY: it is neither an id nor an issued /, 2],
    [generateKey(), /\nCannot find this key: see keys list\n$/, 1],
  ] as const;
  for (const [key, message, code] of cases) {
    const refused = await runMain(["keys", "revoke", key], { cwd, env });
    assert.deepEqual([refused.code, refused.stdout], [code, ""], key);
    assert.match(refused.stderr, message, key);
    assert.ok(!refused.stderr.includes(key), key);
  }
});
