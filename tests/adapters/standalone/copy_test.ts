/** The command `copy`: what it refuses, and the ways in which the program ends. */
import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runCopy } from "../../../adapters/standalone/copy.ts";
import { launch, run } from "../../support/process.ts";
import { testUnless } from "../../support/runtime.ts";
import { mainCommand, NO_TERMINAL, runMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import {
  assertSame,
  content,
  fill,
  FROM_POSTGRES,
  isEmpty,
  ON_FILES,
  testsOfCopies,
  TO_POSTGRES,
} from "./copy_places.ts";

const onWay = await testsOfCopies();
const onFiles = { test: onWay(ON_FILES) };

onFiles.test("copy refuses a FROM that is missing or no database of ours, and makes none", async ([from, to, folder]) => {
  const refused = (reason: RegExp) =>
    assert.rejects(runCopy([from.url, to.url]), reason);
  await refused(/Cannot open .*a\.db: there is no such file/);
  assert.equal(existsSync(join(folder, "a.db")), false);
  writeFileSync(join(folder, "a.db"), "");
  await refused(/Cannot open .*a\.db: it lacks the tables of this program/);
  assert.equal(readFileSync(join(folder, "a.db")).length, 0);
  assert.equal(existsSync(join(folder, "b.db")), false);
});

onFiles.test("copy follows a link to where TO will be", async ([from, to, folder]) => {
  await fill(from, 3);
  mkdirSync(join(folder, "data"));
  symlinkSync("data/pets.db", join(folder, "b.db"));
  await runCopy([from.url, to.url]);
  assert.deepEqual(readdirSync(join(folder, "data")), ["pets.db"]);
  assert.ok(lstatSync(join(folder, "b.db")).isSymbolicLink());
  assertSame(await content(to), await content(from));
});

onFiles.test("copy refuses a TO beside which a log is left, and one in no folder", async ([from, to, folder]) => {
  await fill(from, 3);
  for (const end of ["-wal", "-shm"]) {
    const beside = join(folder, `b.db${end}`);
    writeFileSync(beside, "");
    await assert.rejects(
      runCopy([from.url, to.url]),
      RegExp(`b\\.db${end} is left of another file; move it away$`),
      end,
    );
    assert.deepEqual(readdirSync(folder).sort(), ["a.db", `b.db${end}`], end);
    rmSync(beside);
  }
  await assert.rejects(
    runCopy([from.url, `sqlite:${folder}/no/b.db`]),
    /the directory .*no does not exist/,
  );
});

onWay(FROM_POSTGRES)(
  "copy closes a PostgreSQL database that it refuses: no tables, or not empty",
  async ([from, to]) => {
    const missing = runCopy([from.url, to.url]);
    await assert.rejects(missing, /: it lacks the tables of this program/);
    await fill(from, 3);
    // The same database twice.
    const copying = runCopy([from.url, `${from.url}?connection_limit=3`]);
    await assert.rejects(copying, /TO already has pets or keys/);
    const others = () =>
      from.query(
        `select cast(pid as text) from pg_stat_activity where datname = current_database()
      and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
    const isClosed = async () => (await others()).length === 0;
    // An idle one would be closed after 30 s.
    await until("no connection is open", isClosed, 15_000);
  },
);

for (const way of [ON_FILES, TO_POSTGRES]) {
  const onThisWay = { test: onWay(way) };
  onThisWay.test(`the program copy from ${way.join(" to ")} says what it copied`, async ([from, to, cwd]) => {
    await fill(from, 2500);
    await from.query(
      `insert into pets values (${2n ** 53n + 1n}, 'Far', 1, 2)`,
    );
    const args = ["copy", "--snapshot", from.url, to.url];
    const { code, stdout, stderr } = await runMain(args, { cwd });
    assert.deepEqual([code, stderr], [
      0,
      "TO has all pets up to the id 9007199254740993, and none that FROM was given since\n",
    ]);
    const counts = '"pets":2501,"apiKeys":0,"idempotencyKeys":0';
    assert.equal(stdout, `{${counts},"lastId":9007199254740993}\n`);
    const again = await runMain(["copy", from.url, to.url], { cwd });
    assert.deepEqual([again.code, again.stdout], [1, ""]);
    assert.match(again.stderr, /^Cannot copy: [^\n]*\n$/);
  });
}

onFiles.test("the program copy that is killed leaves no TO, but its new file", async ([from, to, cwd]) => {
  await fill(from, 60_000);
  const program = launch(mainCommand(["copy", from.url, to.url]), { cwd });
  const files = () =>
    readdirSync(cwd).map((name) => name.replace(/^a\.db.*/, "a"));
  const begun = () =>
    files().some((name) => /^b\.db\.partial-\w+-wal$/.test(name));
  await until("it writes", begun).finally(() => program.kill("SIGKILL"));
  assert.notEqual(await program.exited, 0);
  assert.ok(files().every((name) => /^a$|^b\.db\.partial/.test(name)));
  const again = await runMain(["copy", from.url, to.url], { cwd });
  assert.equal(again.code, 0, again.stderr);
  assertSame(await content(to), await content(from));
});

onWay(TO_POSTGRES)(
  "the program copy that is killed leaves PostgreSQL empty",
  async ([from, to, cwd]) => {
    await fill(from, 2500);
    await to.open();
    await to.query(
      `create function hang() returns trigger language plpgsql as
      'begin perform pg_sleep(50); return new; end'`,
    );
    await to.query(
      "create trigger hang before insert on pets for each row when (new.id = 2400) execute function hang()",
    );
    const program = launch(mainCommand(["copy", from.url, to.url]), { cwd });
    const hanging = `from pg_stat_activity where wait_event = 'PgSleep'
    and datname = current_database()`;
    const hangs = async () =>
      (await to.query(`select cast(pid as text) as pid ${hanging}`)).length > 0;
    await until("it hangs", hangs).finally(() => program.kill("SIGKILL"));
    await to.query(
      `select cast(pg_terminate_backend(pid) as text) as done ${hanging}`,
    );
    await to.query("drop trigger hang on pets");
    assert.equal(await isEmpty(to), true);
    const again = await runMain(["copy", from.url, to.url], { cwd });
    assert.equal(again.code, 0, again.stderr);
  },
);

testUnless(NO_TERMINAL)(
  "the program copy shows its progress on a terminal, and nowhere else",
  async (t) => {
    const cwd = newFolder(t);
    const url = (name: string) => `sqlite:${join(cwd, name)}`;
    const keys = ["keys", "issue", "one"];
    await runMain(keys, { cwd, env: { DATABASE_URL: url("a.db") } });
    const command = (to: string) => mainCommand(["copy", url("a.db"), url(to)]);
    const words = command("b.db").map((word) => `'${word}'`).join(" ");
    const shown = await run(["script", "-qefc", words, "/dev/null"], { cwd });
    const clear = "\r\u001b[K";
    const line = `${clear}Copying API keys: 1 of 1${clear}`;
    assert.ok(shown.stdout.includes(line), shown.stdout);
    const plain = await run(command("c.db"), { cwd });
    assert.deepEqual([plain.code, plain.stderr], [0, ""]);
  },
);
