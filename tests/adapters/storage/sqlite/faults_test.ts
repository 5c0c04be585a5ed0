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
import { DatabaseSync, StatementSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import type { NewApiKeyRecord } from "../../../../core/keys/api_key_storage.ts";
import {
  type PetStorage,
  StorageError,
} from "../../../../core/pets/pet_storage.ts";
import { atEnd } from "../../../support/at_end.ts";
import { countKept } from "../../../support/garbage.ts";
import { ROOT } from "../../../support/repository.ts";
import { skipping } from "../../../support/runtime.ts";
import { onFile as it, onPrepare } from "../../../support/sqlite.ts";
import { stopClock, turns, until } from "../../../support/time.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { startStorage } from "../../../support/process.ts";

const KEY: NewApiKeyRecord = {
  name: "key",
  digest: "0".repeat(64),
  created: new Date(5000),
};

test("sqliteStorage refuses a path that is not a file", async () => {
  for (const path of ["", ":memory:", "file:pets.db", undefined]) {
    await assert.rejects(sqliteStorage(path as string), /^TypeError: The path/);
  }
});

it("sqliteStorage says why it cannot open a path", async ({ path: text, open }) => {
  writeFileSync(text, "This is longer than a database's header. ".repeat(50));
  const directory = dirname(text);
  const messages = [
    [directory, /: it is a directory$/],
    [join(directory, "no/pets.db"), /: the directory .*no does not exist/],
    [join(text, "pets.db"), /: .*db is not a directory$/],
    [text, /: the file is not an SQLite database$/],
  ] as const;
  for (const [path, message] of messages) {
    await assertUnavailable(open(path), message);
  }
});

const FOREIGN = /it is the database of another program/;
const OTHERS = {
  "CREATE TABLE orders (id INTEGER)": FOREIGN,
  "PRAGMA application_id = 7": FOREIGN,
  "PRAGMA user_version = 0":
    /its tables are version 0, .* knows version 1; use the version of the program that made them$/,
  "PRAGMA user_version = 2":
    /its tables are version 2, of a newer release, .* knows version 1; nothing was changed: start that release, or restore a backup from before the upgrade$/,
};
for (const [text, message] of Object.entries(OTHERS)) {
  it(`sqliteStorage leaves a file as it is after ${text}`, async ({ path, open, sql }) => {
    if (message !== FOREIGN) await (await open()).close();
    sql(text);
    const before = readFileSync(path);
    await assertUnavailable(open(), message);
    assert.deepEqual(readFileSync(path), before);
    sql("CREATE TABLE more (id INTEGER)"); // It is not locked either.
  });
}

it("sqliteStorage makes no new file beside the log of one that is gone", async ({ path, open }) => {
  const storage = await open();
  await storage.create(REX);
  const log = readFileSync(`${path}-wal`);
  await storage.close();
  rmSync(path);
  writeFileSync(`${path}-wal`, log);
  const link = `${path}.link`;
  symlinkSync(path, link);
  for (const opened of [path, link]) {
    await assertUnavailable(
      open(opened),
      /: the file is missing, but .*-wal is not and may hold pets; put the same file back; before you restore a backup, move the log away$/,
    );
  }
  assert.deepEqual(readFileSync(`${path}-wal`), log);
  assert.ok(!existsSync(path));
});

it("sqliteStorage says that another program's log is not the one at its path", async ({ t, path, open }) => {
  await (await open()).close();
  const other = new DatabaseSync(path);
  atEnd(t, () => other.close());
  other.exec("CREATE TABLE more (id INTEGER)");
  rmSync(`${path}-wal`);
  writeFileSync(`${path}-wal`, ""); // as a third program makes it when it opens the file
  await assertUnavailable(
    open(),
    /: the -wal was replaced or cut short while in use; restart the processes/,
  );
});

it("sqliteStorage opens no file whose disk cannot have a write-ahead log", async ({ t, open }) => {
  // As SQLite answers on a network file system: the mode stays what it was.
  onPrepare(
    t,
    (sql, prepare) =>
      prepare(sql.replace("journal_mode = WAL", "journal_mode")),
  );
  await assertUnavailable(
    open(),
    /: its file system does not support SQLite's write-ahead log; use a local disk$/,
  );
});

it("sqliteStorage says that a file is damaged, and writes no more once it noticed", async ({ path, open }) => {
  const storage = await open();
  await Promise.all(Array.from({ length: 2000 }, () => storage.create(REX)));
  await storage.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 4096);
  writeFileSync(path, bytes);
  const damaged = await open();
  await assertUnavailable(damaged.list({ limit: 9 }), /the file is damaged/);
  await damaged.ping();
  const unknown = /^StorageError: Cannot create pet: the file is damaged/;
  await assert.rejects(damaged.create(REX), unknown);
  for (const act of [() => damaged.create(REX), () => damaged.ping()]) {
    await assertUnavailable(act(), /writing stopped after a disk error/);
  }
});

const options = {
  skip: skipping(
    process.platform === "win32" && "Windows deletes and renames no open file",
  ),
};

for (const fate of ["deleted", "replaced", "made unreadable"]) {
  it(
    `sqliteStorage notices that its file was ${fate}, and goes on if it is back`,
    async ({ path, open }) => {
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
    },
    options,
  );
}

it(
  "the log of a file that was replaced in use is set aside, and the new one whole",
  async ({ t, path, open, sql }) => {
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
  },
  options,
);

for (
  const [what, isRead, said] of [
    ["is emptied", false, /its log is now in the old file$/],
    ["stays while others read it", true, /move .* away before the next start/],
  ] as const
) {
  it(
    `the log of a replaced file ${what} if it cannot be renamed`,
    async ({ t, path, open }) => {
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
    },
    options,
  );
}

for (
  const [what, name] of [
    ["renamed", "pets"],
    ["emptied", "x".repeat(240)],
  ] as const
) {
  it(
    `the log of a replaced file is not ${what} once a new server writes to it`,
    async ({ t, path, open }) => {
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
    },
    options,
  );
}

it(
  "the log of a file that was replaced in use stays if it is another server's",
  async ({ t, path, open }) => {
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
  },
  options,
);

it(
  "sqliteStorage opens no file that has two names",
  async ({ path, open }) => {
    await (await open()).close();
    linkSync(path, `${path}.link`);
    for (const name of [path, `${path}.link`]) {
      await assertUnavailable(open(name), /has 2 names \(hard links\)/);
    }
    rmSync(`${path}.link`);
    await (await open()).close();
  },
  options,
);

for (const meanwhile of ["creates go on", "nobody asks for anything"]) {
  it(
    `sqliteStorage saves what its log holds if that is deleted while ${meanwhile}`,
    async ({ path, sql }) => {
      const child = startStorage();
      await child.tell(`open ${path}`);
      const created = [...await child.tell("create 20 4")];
      rmSync(`${path}-wal`);
      if (meanwhile === "creates go on") {
        const answers = await child.tell("create 20 1");
        const isCreated = (answer: string) => answer.startsWith("created ");
        created.push(...answers.filter(isCreated));
        const refused = answers.filter((answer) => !isCreated(answer));
        assert.ok(refused.length >= 19, `${refused.length} refused`);
        for (const answer of refused) {
          assert.match(
            answer,
            /^failed unavailable .*-wal was deleted or replaced/,
          );
        }
      } else {
        const names = created.map((answer) => answer.split(" ")[2] ?? "");
        await until("the file has it all", () => {
          const bytes = readFileSync(path);
          return names.every((name) => bytes.includes(name));
        });
      }
      await child.kill();
      assert.equal(sql("SELECT id FROM pets").length, created.length);
    },
    options,
  );
}

for (const suffix of ["-wal", "-shm"]) {
  it(
    `sqliteStorage is not ready, but lists, if its ${suffix} was deleted`,
    async ({ path, open }) => {
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
    },
    options,
  );
}

it(
  "sqliteStorage keeps others out of a file without its log, at each check",
  async ({ t, path, open }) => {
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
  },
  options,
);

it(
  "sqliteStorage does not take a log for saved while another process saves it",
  async ({ t, path, open }) => {
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
  },
  options,
);

it(
  "sqliteStorage does not trust a log that was moved away and back",
  async ({ path, open }) => {
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
  },
  options,
);

it(
  "sqliteStorage does not mix its log with one that took its place",
  async ({ path, open }) => {
    const storage = await open();
    await storage.create(REX);
    const before = readFileSync(path);
    renameSync(`${path}-wal`, `${path}-wal.moved`);
    copyFileSync(`${path}-wal.moved`, `${path}-wal`);
    await assertUnavailable(storage.ping(), /-wal was deleted or replaced/);
    assert.deepEqual(readFileSync(path), before);
  },
  options,
);

it("sqliteStorage writes no more if a transaction that failed cannot be rolled back", async ({ t, open }) => {
  const run = () => {
    throw new Error("it stays open");
  };
  onPrepare(
    t,
    (sql, prepare) =>
      sql === "ROLLBACK" ? Object.assign(prepare(sql), { run }) : prepare(sql),
  );
  const storage = await open();
  await storage.apiKeys.insert(KEY);
  await assert.rejects(storage.apiKeys.insert(KEY), /UNIQUE/);
  await assertUnavailable(storage.create(REX), /writing stopped after a disk/);
});

it("sqliteStorage adds no pet that a trigger ignores, and does not say that it did", async ({ open, sql }) => {
  const storage = await open();
  const rex = await storage.create(REX);
  sql(`CREATE TRIGGER no_tom BEFORE INSERT ON pets
    WHEN new.name = 'Tom' BEGIN SELECT RAISE(IGNORE); END`);
  const tom = storage.create(newPet({ ...REX, name: "Tom" }));
  await assert.rejects(tom, /^Error: .*a trigger on pets ignored the row$/);
  assert.deepEqual((await storage.list({ limit: 9 })).pets, [rex]);
});

it("sqliteStorage is not reached by a ping without the table of pets", async ({ open, sql }) => {
  const storage = await open();
  await storage.ping();
  sql("DROP TABLE pets");
  await assertUnavailable(storage.ping(), /: the table pets is missing$/);
});

it("sqliteStorage keeps nothing of a create that has ended", async ({ open }) => {
  const storage = await open();
  const create = async () => new WeakRef(await storage.create(REX));
  const pets: WeakRef<object>[] = [];
  for (let i = 0; i < 5; i++) pets.push(await create());
  assert.equal(await countKept(pets), 0);
});

/** Locks a file from a connection of its own, and returns what unlocks it. */
function lock(path: string): () => void {
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  return () => {
    other.exec("COMMIT");
    other.close();
  };
}

it("sqliteStorage waits for a locked file without stopping the event loop", async ({ path, open }) => {
  const storage = await open();
  const unlock = lock(path);
  const creating = Promise.all([storage.create(REX), storage.create(REX)]);
  const inserting = storage.apiKeys.insert(KEY);
  assert.deepEqual((await storage.list({ limit: 5 })).pets, []);
  await turns();
  const closing = storage.close();
  // This thread can release the file only because the event loop keeps running.
  await turns(20);
  unlock();
  assert.equal((await creating).length, 2);
  assert.equal((await inserting).id, 1);
  await closing;
});

it("sqliteStorage gives up a file that stays locked, and nothing happened", async ({ path, open }) => {
  const storage = await open(path, { lockTimeout: 30 });
  const unlock = lock(path);
  await assertUnavailable(storage.create(REX), /Cannot create pet: .*locked/);
  await storage.ping();
  unlock();
  const pet = await storage.create(REX);
  assert.deepEqual((await storage.list({ limit: 5 })).pets, [pet]);
});

it("a read waits for its turn as long as another may wait for a locked file", async ({ t, path, open }) => {
  const clock = stopClock(t);
  const storage = await open(path, { lockTimeout: 60_000 });
  const { id } = await storage.create(REX);
  const busy = Object.assign(new Error("database is locked"), { errcode: 5 });
  const { get } = StatementSync.prototype;
  let isLocked = true;
  let attempts = 0;
  t.mock.method(Math, "random", () => 1);
  t.after(() => StatementSync.prototype.get = get);
  Object.assign(StatementSync.prototype, {
    get(this: StatementSync, ...values: Parameters<typeof get>) {
      attempts++;
      if (isLocked) throw busy;
      return get.apply(this, values);
    },
  });
  const since = performance.now();
  const reads = [storage.get(id)];
  await turns();
  reads.push(storage.get(id));
  await clock.pass(30_000);
  assert.ok(attempts < 3 + (performance.now() - since) / 7, `${attempts}`);
  isLocked = false;
  for (const pet of await Promise.all(reads)) assert.equal(pet?.id, id);
});

it(
  "sqliteStorage says which permissions Deno must give it",
  async ({ path }) => {
    const directory = dirname(path);
    const refusal =
      `failed unavailable Cannot open ${path}: Deno does not permit it; ` +
      `run with --allow-read=${directory} --allow-write=${directory}`;
    const shared = "/dev/shm/not_permitted.db";
    const link = join(directory, "link");
    symlinkSync("/dev", link);
    const linked = join(link, "not_permitted.db");
    const refusalOfDev = (path: string) =>
      `failed unavailable Cannot open ${path}: Deno does not permit it; ` +
      "run with --allow-all, which Deno demands for all that is in /dev";
    const cases = [
      ["", "", path, refusal],
      [directory, "", path, refusal],
      [path, path, path, refusal],
      [directory, directory, path, "opened"],
      ["/dev/shm", "/dev/shm", shared, refusalOfDev(shared)],
      ["/", "/", linked, refusalOfDev(linked)],
    ] as const;
    for (const [read, write, path, expected] of cases) {
      const child = startStorage({
        denoFlags: [
          `--allow-read=${read === "" ? ROOT : `${ROOT},${read}`}`,
          ...write === "" ? [] : [`--allow-write=${write}`],
        ],
      });
      assert.deepEqual(await child.tell(`open ${path}`), [expected]);
      await child.end();
    }
  },
  {
    skip: process.versions.deno === undefined && "only Deno has permissions",
  },
);

async function assertUnavailable(
  act: Promise<unknown>,
  message: RegExp,
): Promise<void> {
  const expected = { name: "StorageError", kind: "unavailable", message };
  await assert.rejects(act, expected);
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
