/**
 * What happens to an SQLite file that is deleted, moved or replaced while it is in use, or whose log
 * or index is.
 */
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { after } from "node:test";
import {
  type PetStorage,
  StorageError,
} from "../../../../core/pets/pet_storage.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { startStorage, type StorageProcess } from "../../../support/process.ts";
import { skipping } from "../../../support/runtime.ts";
import {
  assertUnavailable,
  onFile,
  onPrepare,
  runSql,
} from "../../../support/sqlite.ts";
import { until } from "../../../support/time.ts";

const it = onFile(skipping(
  process.platform === "win32" && "Windows deletes and renames no open file",
));

const LOCKED =
  /^failed unavailable Cannot open .*: another process keeps the file locked/;

const first = startStorage();
const second = startStorage();
const keys = startStorage();
after(() => Promise.all([first, second, keys].map((child) => child.end())));

/** What is deleted, and which of two servers ends first. */
const DELETED = ["-wal", "-shm"].flatMap((suffix) =>
  [false, true].flatMap((isMadeAnew) =>
    ["first", "second"].map((whose) => ({ suffix, isMadeAnew, whose }))
  )
);
for (const { suffix, isMadeAnew, whose } of DELETED) {
  const what = `${suffix} is deleted${isMadeAnew ? " and made anew" : ""}`;
  it(`nothing is lost if ${what} under two servers, and the ${whose} ends first`, async ({ path }) => {
    const answers: string[] = [];
    const send = async (child: StorageProcess, command: string) => {
      const got = await child.tell(command);
      answers.push(...got);
      return got.at(-1) ?? "it ended";
    };
    /** Does what the command `keys` does, twice, as far as it gets. */
    const issueAndRevoke = async (name: string) => {
      const opened = await send(keys, `open ${path} 50`);
      if (opened !== "opened") return opened;
      const [, id] = (await send(keys, `issue ${name}`)).split(" ");
      await send(keys, `revoke ${id}`);
      return await send(keys, "close");
    };

    for (const server of [first, second]) {
      assert.equal(await send(server, `open ${path}`), "opened");
      await send(server, "create 5 2");
    }
    assert.equal(await issueAndRevoke("early"), "closed");
    rmSync(path + suffix);
    const soon = await issueAndRevoke("soon");
    for (const server of [first, second]) await send(server, "create 3 1");
    const problems: string[] = [];
    const findProblems = async () => {
      problems.push(await send(first, "ping"), await send(second, "ping"));
    };
    await findProblems(); // From here on everything is saved.
    if (isMadeAnew) {
      query(path, "SELECT count(*) FROM pets");
      await findProblems();
    }
    const late = await issueAndRevoke("late");
    const [one, other] = whose === "first" ? [first, second] : [second, first];
    assert.equal(await send(one, "close"), "closed");
    problems.push(await send(other, "ping"));
    await issueAndRevoke("later");
    assert.equal(await send(other, "close"), "closed");
    assert.equal(await issueAndRevoke("last"), "closed");

    assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
    const stored = [
      "SELECT 'created ' || id || ' ' || name FROM pets",
      "SELECT 'issued ' || id || ' ' || name FROM api_keys",
      "SELECT 'revoked ' || id FROM api_keys WHERE revoked > 0",
    ].flatMap((text) => query(path, text));
    const acknowledged = answers.filter((answer) =>
      /^(?:created|issued|revoked) /.test(answer)
    );
    assert.ok(acknowledged.length >= 14);
    const lost = acknowledged.filter((answer) => !stored.includes(answer));
    assert.deepEqual(lost, []);
    for (const problem of problems) {
      assert.match(problem, /^failed unavailable .*restart this process/);
    }
    assert.match(soon, LOCKED);
    const advice = `, and .*${suffix} is missing: restart that process first$`;
    assert.match(soon, RegExp(advice));
    // Two servers that meet the query with its new -shm at once both close the file.
    const mayOpen = suffix === "-shm" && isMadeAnew;
    if (late !== "closed" || !mayOpen) assert.match(late, LOCKED);
  });
}

for (const fate of ["deleted", "replaced", "made unreadable"]) {
  it(`sqliteStorage notices that its file was ${fate}, and goes on if it is back`, async ({ path, open }) => {
    const storage = await open();
    await storage.create(REX);
    await storage.ping();
    renameSync(path, `${path}.moved`);
    if (fate === "made unreadable") symlinkSync(path, path);
    if (fate === "replaced") copyFileSync(`${path}.moved`, path);
    else await assertRefused(storage);
    const problem = fate === "replaced"
      ? /was replaced while in use, and pets that were added in the 100 ms before/
      : /was deleted, moved or made unreadable .* put the same file back/;
    await assertUnavailable(storage.ping(), problem);
    await assertUnavailable(storage.create(REX), problem);
    renameSync(`${path}.moved`, path);
    await storage.ping();
    await storage.create(REX);
  });
}

it("the log of a file that was replaced in use is set aside, and the new one whole", async ({ t, path, open, sql }) => {
  const backup = `${path}.backup`;
  const before = await open();
  for (let i = 0; i < 9; i++) await before.create(REX);
  sql(`VACUUM INTO '${backup}'`);
  await before.close();
  const kept = readFileSync(backup);
  const storage = await open();
  const late = newPet({ ...REX, name: "Late Rex" });
  for (let i = 0; i < 9; i++) await storage.create(late);
  const lines: string[] = [];
  t.mock.method(console, "warn", (line: string) => void lines.push(line));
  renameSync(backup, path);
  await assertUnavailable(storage.ping(), /was replaced while in use/);
  await storage.close();
  const [line = ""] = lines;
  const [aside = ""] = /(?<=is now ).*-wal\.replaced-.*$/.exec(line) ?? [];
  assert.ok(readFileSync(aside).includes("Late Rex"), line);
  assert.equal(existsSync(`${path}-wal`), false);
  assert.deepEqual(readFileSync(path), kept);

  const reopened = await open();
  const names = (await reopened.list({ limit: 99 })).pets
    .map(({ name }) => name);
  assert.deepEqual(names, Array(9).fill("Rex"));
});

for (
  const [what, isRead, said] of [
    ["is emptied", false, /its log is now in the old file$/],
    ["stays while others read it", true, /move .* away before the next start/],
  ] as const
) {
  it(`the log of a replaced file ${what} if it cannot be renamed`, async ({ t, path, open }) => {
    const long = join(dirname(path), "x".repeat(240));
    const storage = await open(long);
    await storage.create(REX);
    const other = new DatabaseSync(long);
    other.exec("begin");
    if (isRead) other.prepare("select * from pets").get();
    const lines: string[] = [];
    t.mock.method(console, "warn", (line: string) => void lines.push(line));
    renameSync(long, `${long}.old`);
    writeFileSync(long, "");
    await storage.close();
    assert.match(lines.join("\n"), said);
    assert.equal(statSync(`${long}-wal`).size > 0, isRead);
    other.close();
  });
}

for (
  const [what, name] of [
    ["renamed", "pets"],
    ["emptied", "x".repeat(240)],
  ] as const
) {
  it(`the log of a replaced file is not ${what} once a new server writes to it`, async ({ t, path, open }) => {
    const file = join(dirname(path), name);
    await (await open(file)).close();
    copyFileSync(file, `${file}.backup`);
    const storage = await open(file);
    const { id } = await storage.create(REX);
    const lines: string[] = [];
    t.mock.method(console, "warn", (line: string) => void lines.push(line));
    renameSync(file, `${file}.old`);
    renameSync(`${file}.backup`, file);
    await assertUnavailable(storage.ping(), /was replaced while in use/);
    const server = startStorage();
    await server.tell(`open ${file}`);
    const created = await server.tell("create 2 1");
    await storage.close();
    assert.match(lines.join("\n"), /: unless a server already uses the new/);
    assert.deepEqual(await server.tell("ping"), ["well"]);
    await server.kill();
    const { pets } = await (await open(file)).list({ limit: 9, after: id });
    assert.deepEqual(
      pets.map(({ id, name }) => `created ${id} ${name}`),
      created,
    );
  });
}

it("the log of a file that was replaced in use stays if it is another server's", async ({ t, path, open }) => {
  const storage = await open();
  await storage.create(REX);
  t.mock.method(console, "warn", (line: string) => assert.fail(line));
  renameSync(path, `${path}.old`);
  renameSync(`${path}-wal`, `${path}-wal.old`);
  const other = await open();
  await other.create(REX);
  await assertUnavailable(storage.ping(), /was replaced while in use/);
  await storage.close();
  assert.ok(existsSync(`${path}-wal`));
  await other.ping();
});

it("sqliteStorage opens no file that has two names", async ({ path, open }) => {
  await (await open()).close();
  linkSync(path, `${path}.link`);
  for (const name of [path, `${path}.link`]) {
    await assertUnavailable(open(name), /has 2 names \(hard links\)/);
  }
  rmSync(`${path}.link`);
  await (await open()).close();
});

for (const suffix of ["-wal", "-shm"]) {
  it(`sqliteStorage is not ready, but lists, if its ${suffix} was deleted`, async ({ path, open }) => {
    const storage = await open();
    await storage.create(REX);
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN");
    assert.equal(reader.prepare("SELECT * FROM pets").all().length, 1);
    await storage.create(newPet({ ...REX, name: "Late Rex" }));
    rmSync(path + suffix);
    await assertRefused(storage);
    await assertUnavailable(storage.ping(), /was deleted or replaced/);
    const names = (await storage.list({ limit: 2 })).pets
      .map(({ name }) => name);
    assert.deepEqual(names, ["Rex", "Late Rex"]);
    const hasAll = () => readFileSync(path).includes("Late Rex");
    assert.equal(hasAll(), false);
    reader.close();
    await until("the file has it all", hasAll);
  });
}

it("sqliteStorage keeps others out of a file without its log, at each check", async ({ t, path, open }) => {
  const other = new DatabaseSync(path);
  const storage = await open();
  await storage.create(REX);
  other.prepare("SELECT * FROM pets").all(); // so that the file cannot be locked as a whole
  rmSync(`${path}-wal`);
  const { exec } = DatabaseSync.prototype;
  t.after(() => DatabaseSync.prototype.exec = exec);
  const used: DatabaseSync[] = [];
  DatabaseSync.prototype.exec = function (sql) {
    used.push(this);
    return exec.call(this, sql);
  };
  const check = async () => {
    await assertUnavailable(storage.ping(), /-wal was deleted or replaced/);
    const locked = /database is locked/;
    assert.throws(() => exec.call(other, "BEGIN IMMEDIATE"), locked);
    return used.splice(0);
  };
  const [db] = await check();
  assert.deepEqual(await check(), []);
  assert.ok(db !== undefined);
  exec.call(db, "ROLLBACK"); // as SQLite does by itself if the disk fails under a read
  await check();
  other.close();
});

it("a create whose log is deleted during its commit is kept once the log is saved", async ({ t, path, open }) => {
  const storage = await open();
  onPrepare(t, (sql, prepare) => {
    const statement = prepare(sql);
    const commit = statement.run.bind(statement);
    const run = () => {
      rmSync(`${path}-wal`);
      return commit();
    };
    return sql === "COMMIT" ? Object.assign(statement, { run }) : statement;
  });
  const rex = await storage.create(REX);
  await assertUnavailable(storage.ping(), /-wal was deleted or replaced/);
  await storage.close();
  assert.deepEqual(query(path, "SELECT id FROM pets"), [Number(rex.id)]);
});

it("sqliteStorage does not take a log for saved while another process saves it", async ({ t, path, open }) => {
  // As SQLite answers if another process has the lock for this.
  const get = () => [1n, -1n, -1n];
  onPrepare(
    t,
    (sql, prepare) =>
      sql === "PRAGMA wal_checkpoint(PASSIVE)"
        ? Object.assign(prepare(sql), { get })
        : prepare(sql),
  );
  const storage = await open();
  await storage.create(REX);
  rmSync(`${path}-wal`);
  await assert.rejects(storage.create(REX), { kind: "outcome_unknown" });
});

it("sqliteStorage does not trust a log that was moved away and back", async ({ path, open }) => {
  const storage = await open();
  const rex = await storage.create(REX);
  const problem = /-wal was deleted or replaced .* restart this process/;
  renameSync(`${path}-wal`, `${path}-wal.moved`);
  await assertUnavailable(storage.ping(), problem);
  renameSync(`${path}-wal.moved`, `${path}-wal`);
  await assertUnavailable(storage.ping(), problem);
  await assertUnavailable(storage.create(REX), problem);
  await storage.close();
  const reopened = await open();
  assert.deepEqual((await reopened.list({ limit: 9 })).pets, [rex]);
});

it("sqliteStorage does not mix its log with one that took its place", async ({ path, open }) => {
  const storage = await open();
  await storage.create(REX);
  const before = readFileSync(path);
  renameSync(`${path}-wal`, `${path}-wal.moved`);
  copyFileSync(`${path}-wal.moved`, `${path}-wal`);
  await assertUnavailable(storage.ping(), /-wal was deleted or replaced/);
  assert.deepEqual(readFileSync(path), before);
});

/**
 * The first create that is written into a file without a name may be there or not; any other is
 * refused.
 */
async function assertRefused(storage: PetStorage): Promise<void> {
  const first = await storage.create(REX).catch((error: unknown) => error);
  assert.ok(first instanceof StorageError, `${first}`);
  await assertUnavailable(storage.create(REX), /was deleted/);
}

/** The first column of a query. */
function query(path: string, text: string): readonly unknown[] {
  return runSql(path, text).map((row) => Object.values(row)[0]);
}
