/**
 * What happens to an SQLite file that is deleted, moved or replaced while it is in use, or whose log
 * or index is.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { after, type TestContext } from "node:test";
import { LOOK_INTERVAL } from "../../../../adapters/storage/sqlite/files.ts";
import type { PetDatabase } from "../../../../adapters/storage/sqlite/mod.ts";
import { sqliteSource } from "../../../../adapters/storage/sqlite/transfer.ts";
import { petId } from "../../../../core/pets/pet.ts";
import {
  type PetStorage,
  StorageError,
} from "../../../../core/pets/pet_storage.ts";
import { atEnd } from "../../../support/at_end.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { startStorage, type StorageProcess } from "../../../support/process.ts";
import { skipping } from "../../../support/runtime.ts";
import {
  assertUnavailable,
  type File,
  onFile,
  onPrepare,
  runSql,
} from "../../../support/sqlite.ts";
import { until } from "../../../support/time.ts";

const withFile = {
  test: onFile(skipping(
    process.platform === "win32" && "Windows deletes and renames no open file",
  )),
};

const LATE_REX = newPet({ ...REX, name: "Late Rex" });

const first = startStorage();
const second = startStorage();
const keys = startStorage();
after(() => Promise.all([first, second, keys].map((child) => child.end())));

/** What is lost, how, and which of two servers ends first. */
const LOSSES = ["-wal", "-shm"].flatMap((suffix) =>
  [false, true].flatMap((isMadeAnew) =>
    ["first", "second"].map((whose) => ({ suffix, isMadeAnew, whose }))
  )
);
for (const { suffix, isMadeAnew, whose } of LOSSES) {
  const what = `${suffix} is deleted${isMadeAnew ? " and made anew" : ""}`;
  withFile.test(`no file is damaged if ${what} under two servers, and the ${whose} ends first`, async ({ path }) => {
    const answers: string[] = [];
    const send = async (child: StorageProcess, command: string) => {
      const got = await child.tell(command);
      answers.push(...got);
      return got.at(-1) ?? "it ended";
    };
    /** Does what the command `keys` does, twice. */
    const issueAndRevoke = async (name: string) => {
      assert.equal(await send(keys, `open ${path}`), "opened");
      const [, id] = (await send(keys, `issue ${name}`)).split(" ");
      await send(keys, `revoke ${id}`);
      assert.equal(await send(keys, "close"), "closed");
    };

    for (const server of [first, second]) {
      assert.equal(await send(server, `open ${path}`), "opened");
      await send(server, "create 5 2");
    }
    await issueAndRevoke("early");
    rmSync(path + suffix);
    if (isMadeAnew) openWithAnother(path);
    for (const server of [first, second]) {
      await send(server, "create 3 1");
      assert.match(
        await send(server, "ping"),
        /^failed unavailable .*restart this process/,
      );
    }
    // They close it by themselves, unless another program has used it.
    if (!isMadeAnew) await issueAndRevoke("late");
    const [one, other] = whose === "first" ? [first, second] : [second, first];
    assert.equal(await send(one, "close"), "closed");
    assert.equal(await send(other, "close"), "closed");
    await issueAndRevoke("last");

    assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
    const stored = storedIn(path);
    const acknowledged = answers.filter(isAcknowledgement);
    assert.ok(acknowledged.length >= 14);
    // What only a log held that is deleted and made anew is lost.
    if (suffix === "-wal" && isMadeAnew) return;
    assert.deepEqual(missingIn(stored, acknowledged), []);
  });
}

withFile.test("a deleted log is saved before its other user is killed, beside an idle shell", async ({ t, path }) => {
  const doomed = startStorage();
  atEnd(t, () => doomed.kill());
  const shell = new DatabaseSync(path);
  const answers: string[] = [];
  for (const server of [first, doomed]) {
    await server.tell(`open ${path}`);
    answers.push(...await server.tell("create 20 4"));
  }
  shell.prepare("SELECT * FROM pets").all();
  rmSync(`${path}-wal`);
  await first.tell("ping");
  await until(
    "the first has closed it",
    async () => (await first.tell("saved")).at(-1) === "saved",
  );
  await doomed.kill();
  const opening =
    /^failed .* locked, and .*-wal is missing: restart that process first$/;
  assert.match(`${await keys.tell(`open ${path} 50`)}`, opening);
  shell.close();
  assert.equal(`${await keys.tell(`open ${path}`)}`, "opened");
  await keys.tell("close");
  const acknowledged = answers.filter(isAcknowledgement);
  assert.equal(acknowledged.length, 40);
  assert.deepEqual(missingIn(storedIn(path), acknowledged), []);
});

withFile.test("three servers whose log was deleted are restarted at once, each by itself", async ({ t, path }) => {
  const answers: string[] = [];
  await Promise.all([1, 2, 3].map(async () => {
    const server = startStorage();
    const restarted = startStorage();
    atEnd(t, () => Promise.all([server.end(), restarted.end()]));
    await server.tell(`open ${path}`);
    answers.push(...await server.tell("create 20 4"));
    const file = `${path}-wal`;
    await until("all have opened it", () => answers.length >= 60);
    if (existsSync(file)) rmSync(file);
    await until(
      "it has closed it",
      async () => (await server.tell("saved")).at(-1) === "saved",
    );
    await server.kill();
    assert.equal(`${await restarted.tell(`open ${path}`)}`, "opened");
    const later = await restarted.tell("create 20 4");
    assert.equal(later.filter(isAcknowledgement).length, 20, `${later}`);
    answers.push(...later);
    await restarted.tell("close");
  }));
  const acknowledged = answers.filter(isAcknowledgement);
  assert.equal(
    new Set(acknowledged.map((line) => line.split(" ")[1])).size,
    120,
  );
  assert.deepEqual(missingIn(storedIn(path), acknowledged), []);
});

for (const fate of ["deleted", "replaced", "made unreadable"]) {
  withFile.test(`sqliteStorage notices that its file was ${fate}, and goes on if it is back`, async ({ path, open }) => {
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

/** Opens a storage, and a reader that began before the second pet, which the log must keep for it. */
async function openWithReader(
  t: TestContext,
  open: File["open"],
  path: string,
): Promise<[PetDatabase, DatabaseSync]> {
  const storage = await open(path);
  await storage.create(REX);
  const reader = new DatabaseSync(path);
  atEnd(t, () => reader.isOpen && reader.close());
  reader.exec("BEGIN");
  assert.equal(reader.prepare("SELECT * FROM pets").all().length, 1);
  await storage.create(LATE_REX);
  return [storage, reader];
}

for (const fate of ["deleted or moved", "replaced"]) {
  withFile.test(`a file that was ${fate} in use has all pets at the end, and a backup is not damaged`, async ({ t, path, open, sql }) => {
    const backup = `${path}.backup`;
    const before = await open();
    for (let i = 0; i < 9; i++) await before.create(REX);
    sql(`VACUUM INTO '${backup}'`);
    await before.close();
    const kept = readFileSync(backup);
    const storage = await open();
    for (let i = 0; i < 9; i++) await storage.create(LATE_REX);
    const lines = warnings(t);
    renameSync(path, `${path}.old`);
    if (fate === "replaced") renameSync(backup, path);
    await assertUnavailable(
      storage.ping(),
      RegExp(`was .*${fate.slice(-5)}`),
    );
    assert.equal((await storage.list({ limit: 99 })).pets.length, 18);
    await storage.close();
    assert.match(
      `${lines}`,
      RegExp(`${fate} while in use: the old file, .* has all pets$`),
    );
    assert.equal(statSync(`${path}-wal`).size, 0);
    if (fate !== "replaced") renameSync(backup, path);
    assert.deepEqual(readFileSync(path), kept);
    const names = async () =>
      (await (await open()).list({ limit: 99 })).pets.map(({ name }) => name);
    assert.deepEqual(await names(), Array(9).fill("Rex"));
  });

  withFile.test(`what cannot be moved into a file that was ${fate} in use is renamed`, async ({ t, path, open }) => {
    const [storage, reader] = await openWithReader(t, open, path);
    const lines = warnings(t);
    renameSync(path, `${path}.old`);
    if (fate === "replaced") writeFileSync(path, "");
    await storage.close();
    reader.close();
    const [, aside = ""] =
      /pets are in (\S*-wal\.lost-\S*);/.exec(`${lines}`) ?? [];
    assert.ok(readFileSync(aside).includes("Late Rex"), `${lines}`);
    assert.equal(existsSync(`${path}-wal`), false);
    // As the line says.
    renameSync(`${path}.old`, path);
    renameSync(aside, `${path}-wal`);
    const { pets } = await (await open()).list({ limit: 9 });
    assert.deepEqual(pets.map(({ name }) => name), ["Rex", "Late Rex"]);
  });
}

withFile.test("close saves a deleted log into a file that was moved, or says what holds it", async ({ t, path, open }) => {
  const [storage, reader] = await openWithReader(t, open, path);
  const lines = warnings(t);
  renameSync(path, `${path}.old`);
  rmSync(`${path}-wal`);
  await storage.close();
  assert.match(`${lines}`, /: others still read what .*; end them/);
  reader.close();
  const isMoved = () =>
    `${lines}`.includes("the old file, wherever it is, now");
  await until("the log is saved", isMoved);
  assert.equal(lines.length, 2);
  assert.deepEqual(query(`${path}.old`, "SELECT name FROM pets"), [
    "Rex",
    "Late Rex",
  ]);
});

withFile.test("the line about a replaced file says what to do if its log cannot be renamed", async ({ t, path, open }) => {
  const long = join(dirname(path), "x".repeat(240));
  const [storage, reader] = await openWithReader(t, open, long);
  const lines = warnings(t);
  renameSync(long, `${long}.old`);
  writeFileSync(long, "");
  await storage.close();
  assert.match(
    `${lines}`,
    /: unless a server .* move .*-wal away before the next start/,
  );
  reader.close();
});

withFile.test("a file that is back at the end is closed as usual", async ({ t, path, open }) => {
  const storage = await open();
  await storage.create(REX);
  const lines = warnings(t);
  renameSync(path, `${path}.moved`);
  await assertUnavailable(storage.ping(), /was deleted, moved/);
  renameSync(`${path}.moved`, path);
  await storage.close();
  assert.deepEqual([existsSync(`${path}-wal`), lines], [false, []]);
  assert.deepEqual(query(path, "SELECT name FROM pets"), ["Rex"]);
});

for (const isNoticed of [false, true]) {
  withFile.test(
    `the log of a replaced file is left alone once a new server writes to it${
      isNoticed ? ", and nothing is read" : ""
    }`,
    async ({ t, path: file, open }) => {
      await (await open(file)).close();
      copyFileSync(file, `${file}.backup`);
      const storage = await open(file);
      const { id } = await storage.create(REX);
      warnings(t);
      renameSync(file, `${file}.old`);
      renameSync(`${file}.backup`, file);
      await assertUnavailable(storage.ping(), /was replaced while in use/);
      const server = startStorage();
      await server.tell(`open ${file}`);
      const created = [...await server.tell("create 2 1")];
      if (isNoticed) {
        await looks(2);
        created.push(...await server.tell("create 2 1"));
        const problem = /another program uses the new file with the old -wal/;
        await until(
          "it has noticed",
          () =>
            storage.get(id).then(
              () => false,
              ({ message }) => problem.test(message),
            ),
        );
        await assertAllRefused(storage, problem);
        renameSync(file, `${file}.new`);
        renameSync(`${file}.old`, file);
        await assertAllRefused(storage, problem);
        renameSync(file, `${file}.old`);
        renameSync(`${file}.new`, file);
      }
      await storage.close();
      assert.deepEqual(await server.tell("ping"), ["well"]);
      await server.kill();
      const { pets } = await (await open(file)).list({ limit: 9, after: id });
      assert.deepEqual(
        pets.map(({ id, name }) => `created ${id} ${name}`),
        created,
      );
    },
  );
}

withFile.test("the log of a file that was replaced in use stays if it is another server's", async ({ t, path, open }) => {
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

withFile.test("sqliteStorage opens no file that has two names", async ({ path, open }) => {
  await (await open()).close();
  linkSync(path, `${path}.link`);
  for (const name of [path, `${path}.link`]) {
    await assertUnavailable(open(name), /has 2 names \(hard links\)/);
  }
  rmSync(`${path}.link`);
  await (await open()).close();
});

for (const suffix of ["-wal", "-shm"]) {
  withFile.test(`all is refused once ${suffix} was deleted, and it closes once all is saved`, async ({ t, path, open }) => {
    const [storage, reader] = await openWithReader(t, open, path);
    let ended: string | undefined;
    storage.ended?.then((reason) => ended = reason);
    rmSync(path + suffix);
    await assertRefused(storage);
    await assertAllRefused(
      storage,
      RegExp(`${suffix} was deleted while in use; restart this process`),
    );
    const hasAll = () => readFileSync(path).includes("Late Rex");
    await looks(3);
    assert.deepEqual([hasAll(), ended], [false, undefined]);
    reader.close();
    await until("it has closed", () => ended !== undefined);
    assert.ok(hasAll());
    await assertAllRefused(storage, /restart this process/);
    assert.equal(
      (await (await open()).list({ limit: 9 })).pets.length >= 2,
      true,
    );
  });
}

withFile.test("close waits 5 s for those who read what a deleted log holds, and says so", async ({ t, path, open }) => {
  const [storage, reader] = await openWithReader(t, open, path);
  const lines = warnings(t);
  rmSync(`${path}-wal`);
  await storage.close();
  assert.match(
    `${lines}`,
    /: others still read what the deleted log holds; end them/,
  );
  reader.close(); // It is the last, and saves the rest.
  assert.deepEqual(query(path, "SELECT name FROM pets"), ["Rex", "Late Rex"]);
});

/** How a log is emptied, and what is lost. */
const EMPTIED = {
  "its log was emptied": (path: string) => truncateSync(`${path}-wal`),
  "its log was emptied, and then written to": (path: string) => {
    truncateSync(`${path}-wal`);
    truncateSync(`${path}-wal`, 1_000_000);
  },
  "its index was emptied": (path: string) => truncateSync(`${path}-shm`),
};
for (const [what, empty] of Object.entries(EMPTIED)) {
  for (const isStopped of [false, true]) {
    withFile.test(
      `sqliteStorage moves nothing ${
        isStopped ? "at a stop " : ""
      }after ${what}, and a second server gives no id again`,
      async ({ path, open, sql }) => {
        const before = await open();
        const many = Array.from({ length: 300 }, () => before.create(REX));
        await Promise.all(many);
        await before.close();
        const storage = await open();
        await second.tell(`open ${path}`);
        const { id } = await storage.create(LATE_REX);
        empty(path);
        const isKept = what.includes("index");
        const problem = isKept
          ? /-shm was emptied while in use; .* start again$/
          : /-wal was emptied while in use; .* may be lost/;
        if (isStopped) await storage.close(); // Its look may be up to 100 ms away.
        else {
          await assertUnavailable(storage.ping(), problem);
          await assertAllRefused(storage, problem);
          await looks(4);
        }
        // The second one has seen it too, before the first one cleared the index.
        const [answer = ""] = await second.tell("create 1 1");
        assert.match(answer, problem);
        await second.tell("close");
        await storage.close();
        assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
        assert.deepEqual(query(path, "SELECT count(*) FROM pets"), [
          isKept ? 301 : 300,
        ]);
        const [, statements] = /clients know: (.*)$/.exec(answer) ?? [];
        assert.equal(statements === undefined, isKept);
        for (const one of statements?.split("; ") ?? []) {
          sql(one.replace(/\bN\b/, `${id}`));
        }
        assert.equal((await (await open()).create(REX)).id, id + 1n);
      },
    );
  }
}

withFile.test("a process that was suspended while its log was emptied gives no id again", async ({ t, path, open }) => {
  await (await createManyAndMore(open)).close();
  const storage = await open();
  const server = startStorage();
  atEnd(t, () => server.kill());
  await server.tell(`open ${path}`);
  const [created = ""] = await server.tell("create 1 1");
  const [, id, name = ""] = created.split(" ");
  const pid = parseInt(name); // as programs/storage.ts names its pets
  process.kill(pid, "SIGSTOP");
  truncateSync(`${path}-wal`);
  const problem = /-wal was emptied while in use; .* may be lost/;
  await assertUnavailable(storage.ping(), problem);
  await storage.close();
  await looks(4);
  await assertUnavailable(
    open(),
    /-wal may have been emptied while programs use it/,
  );
  process.kill(pid, "SIGCONT");
  assert.match(`${await server.tell("create 1 1")}`, problem);
  assert.match(`${await server.tell("ping")}`, problem);
  assert.deepEqual(await server.tell("close"), ["closed"]);
  assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
  assert.deepEqual(query(path, "SELECT count(*) FROM pets"), [350]);
  assert.equal(id, "351");
});

withFile.test("a copy is refused once the log was emptied", async ({ path, open }) => {
  await createManyAndMore(open);
  const source = await sqliteSource(path);
  await source.snapshot(async (read) => {
    const count = () => read("copy", "SELECT count(*) FROM pets");
    assert.deepEqual(await count(), [[350n]]);
    truncateSync(`${path}-wal`);
    const problem = /^Cannot copy: .*-wal was emptied while in use/;
    await assertUnavailable(count(), problem);
    await looks(4);
    await assertUnavailable(count(), problem);
  });
  await source.close();
});

withFile.test("sqliteStorage does not take a log for emptied that SQLite emptied itself", async ({ path, open, sql }) => {
  const storage = await open();
  for (let i = 0; i < 3; i++) {
    await storage.create(REX);
    await storage.ping();
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
    assert.equal(statSync(`${path}-wal`).size, 0);
    await storage.ping();
  }
  await storage.create(REX);
  assert.equal((await storage.list({ limit: 9 })).pets.length, 4);
});

withFile.test("a create whose log is deleted during its commit is kept once the log is saved", async ({ t, path, open }) => {
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
  await assertUnavailable(storage.ping(), /-wal was deleted while in use/);
  await storage.close();
  assert.deepEqual(query(path, "SELECT id FROM pets"), [Number(rex.id)]);
});

withFile.test("sqliteStorage does not take a log for saved while another process saves it", async ({ t, path, open }) => {
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

withFile.test("sqliteStorage does not trust a log that was moved away and back", async ({ path, open }) => {
  const storage = await open();
  const rex = await storage.create(REX);
  const problem = /-wal was deleted while in use; restart this process/;
  renameSync(`${path}-wal`, `${path}-wal.moved`);
  await assertUnavailable(storage.ping(), problem);
  renameSync(`${path}-wal.moved`, `${path}-wal`);
  await assertUnavailable(storage.ping(), problem);
  await assertUnavailable(storage.create(REX), problem);
  await storage.close();
  const reopened = await open();
  assert.deepEqual((await reopened.list({ limit: 9 })).pets, [rex]);
});

for (const suffix of ["-wal", "-shm"]) {
  withFile.test(`sqliteStorage moves nothing and locks nobody out after its ${suffix} was replaced`, async ({ path, open }) => {
    const storage = await open();
    await storage.create(REX);
    const before = readFileSync(path);
    const file = path + suffix;
    renameSync(file, `${file}.moved`);
    copyFileSync(`${file}.moved`, file);
    await assertUnavailable(
      storage.ping(),
      RegExp(`${suffix} was replaced while in use`),
    );
    await assertAllRefused(
      storage,
      /end that program, then restart this process/,
    );
    await looks(3);
    assert.deepEqual(readFileSync(path), before);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE; ROLLBACK");
    other.close();
  });
}

withFile.test("sqliteStorage leaves alone what another program moved from its own log", async ({ path, open }) => {
  const storage = await createManyAndMore(open);
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix);
  runElsewhere(
    path,
    `const db = new DatabaseSync(${JSON.stringify(path)});
    db.exec("INSERT INTO pets (name, category_id, status) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, i, 0 FROM n");
    db.close();`,
  );
  const moved = readFileSync(path);
  await assertUnavailable(storage.ping(), /-wal was replaced while in use/);
  await storage.close();
  assert.deepEqual(readFileSync(path), moved);
  assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
  assert.deepEqual(query(path, "SELECT count(*) FROM pets"), [3300]);
});

for (const isStopped of [false, true]) {
  withFile.test(
    `sqliteStorage moves nothing ${
      isStopped ? "at a stop " : ""
    }after its log was emptied and its index deleted`,
    async ({ path, open }) => {
      const storage = await createManyAndMore(open);
      const before = readFileSync(path);
      const { size } = statSync(`${path}-wal`);
      truncateSync(`${path}-wal`);
      truncateSync(`${path}-wal`, size);
      rmSync(`${path}-shm`);
      if (isStopped) await storage.close();
      await until("it has closed it", () => isUnused(path));
      assert.deepEqual(readFileSync(path), before);
      assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
      assert.deepEqual(query(path, "SELECT count(*) FROM pets"), [300]);
    },
  );
}

withFile.test("a database that cannot be closed safely is closed once it can, and close says so", async ({ t, path, open }) => {
  const storage = await createManyAndMore(open);
  const before = readFileSync(path);
  let fails = true;
  onPrepare(t, (sql, prepare) => {
    if (/sqlite_schema$/.test(sql) && fails) throw new Error("for a test");
    return prepare(sql);
  });
  const lines = warnings(t);
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix);
  writeFileSync(`${path}-wal`, "");
  await storage.close();
  assert.match(`${lines}`, /pets\.db stays open, .*: kill this process/);
  fails = false;
  await until("it has closed it", () => isUnused(path));
  assert.deepEqual(readFileSync(path), before);
});

withFile.test("sqliteStorage stops once its file was emptied, and keeps the log aside", async ({ t, path, open }) => {
  const lines = warnings(t);
  const storage = await createManyAndMore(open);
  const log = readFileSync(`${path}-wal`);
  truncateSync(path);
  const problem = /pets\.db was emptied while in use; .* restore a backup/;
  await assertUnavailable(storage.ping(), problem);
  await assertAllRefused(storage, problem);
  await storage.close();
  assert.equal(statSync(path).size, 0);
  const aside = readdirSync(dirname(path)).find((name) =>
    name.startsWith("pets.db-wal.lost-")
  );
  assert.ok(aside !== undefined);
  assert.deepEqual(lines, [
    `${path} was emptied while in use: its log is ${path}-wal${
      aside.slice("pets.db-wal".length)
    }`,
  ]);
  assert.deepEqual(readFileSync(join(dirname(path), aside)), log);
});

/**
 * Waits as long as so many looks at the files take, which must change nothing. On a slow machine
 * there are fewer, or none.
 */
function looks(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * LOOK_INTERVAL));
}

/** Adds 300 pets, opens the file again, and adds 50 that are only in its log. */
async function createManyAndMore(
  open: () => Promise<PetDatabase>,
): Promise<PetDatabase> {
  const before = await open();
  await Promise.all(Array.from({ length: 300 }, () => before.create(REX)));
  await before.close();
  const storage = await open();
  await Promise.all(Array.from({ length: 50 }, () => storage.create(LATE_REX)));
  return storage;
}

/** Runs code in another process: SQLite shares an index within one, even if it was deleted. */
function runElsewhere(path: string, code: string): void {
  const file = `${path}.mjs`;
  writeFileSync(file, `import { DatabaseSync } from "node:sqlite";\n${code}`);
  const args = "Deno" in globalThis ? ["run", "-A", file] : [file];
  execFileSync(process.execPath, args, { stdio: "pipe", timeout: 20_000 });
}

/** Tells whether nobody has the file open, this process included. */
function isUnused(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: false });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return true;
  } catch (error) {
    assert.match(`${error}`, /locked/);
    return false;
  } finally {
    db.close();
  }
}

/**
 * The first create that is written into a file without a name may be there or not; any other is
 * refused.
 */
async function assertRefused(storage: PetStorage): Promise<void> {
  const first = await storage.create(REX).catch((error: unknown) => error);
  assert.ok(first instanceof StorageError, `${first}`);
  await assertUnavailable(storage.create(REX), /was deleted/);
}

/** Reads the file as another program does, which may fail, but makes its log and index. */
function openWithAnother(path: string): void {
  try {
    query(path, "SELECT count(*) FROM pets");
  } catch (error) {
    assert.match(`${error}`, /disk I\/O error/);
  }
}

/** Asserts that everything is refused. */
async function assertAllRefused(
  storage: PetStorage,
  message: RegExp,
): Promise<void> {
  const calls = [
    storage.create(REX),
    storage.get(petId(1n)),
    storage.list({ limit: 1 }),
    storage.ping(),
  ];
  await Promise.all(calls.map((call) => assertUnavailable(call, message)));
}

/** The lines on standard error from now on. */
function warnings(t: TestContext): readonly string[] {
  const lines: string[] = [];
  t.mock.method(console, "warn", (line: string) => void lines.push(line));
  return lines;
}

function isAcknowledgement(answer: string): boolean {
  return /^(?:created|issued|revoked) /.test(answer);
}

/** What a file has, in the words of `programs/storage.ts`. */
function storedIn(path: string): readonly unknown[] {
  return [
    "SELECT 'created ' || id || ' ' || name FROM pets",
    "SELECT 'issued ' || id || ' ' || name FROM api_keys",
    "SELECT 'revoked ' || id FROM api_keys WHERE revoked > 0",
  ].flatMap((text) => query(path, text));
}

function missingIn(
  stored: readonly unknown[],
  acknowledged: readonly string[],
): readonly string[] {
  return acknowledged.filter((answer) => !stored.includes(answer));
}

/** The first column of a query. */
function query(path: string, text: string): readonly unknown[] {
  return runSql(path, text).map((row) => Object.values(row)[0]);
}
