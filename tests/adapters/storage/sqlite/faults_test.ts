import assert from "node:assert/strict";
import {
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { openSqliteFile } from "../../../../adapters/storage/sqlite/open.ts";
import type { NewApiKeyRecord } from "../../../../core/api_key_storage.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { atEnd } from "../../../support/at_end.ts";
import { countKept } from "../../../support/garbage.ts";
import { ROOT } from "../../../support/repository.ts";
import {
  assertUnavailable,
  type File,
  onFile,
  onPrepare,
} from "../../../support/sqlite.ts";
import { awaitedLater, turns } from "../../../support/time.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { startStorage } from "../../../support/process.ts";

const withFile = { test: onFile() };

const KEY: NewApiKeyRecord = {
  name: "key",
  digest: "0".repeat(64),
  created: new Date(5000),
};

test("sqliteStorage refuses a path that is not a file", async () => {
  for (const path of ["", ":memory:", "file:pets.db", undefined]) {
    await assert.rejects(
      sqliteStorage(path as string),
      /^TypeError: The path/,
      `${path}`,
    );
  }
});

withFile.test("sqliteStorage says why it cannot open a path", async ({ path: text, open }) => {
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
    /its tables are version 2, but this release supports only version 1\. Nothing was changed\. Start the newer release, or restore a backup from before the upgrade$/,
};
for (const [text, message] of Object.entries(OTHERS)) {
  withFile.test(`sqliteStorage leaves a file as it is after ${text}`, async ({ path, open, sql }) => {
    if (message !== FOREIGN) await (await open()).close();
    sql(text);
    const before = readFileSync(path);
    await assertUnavailable(open(), message);
    assert.deepEqual(readFileSync(path), before);
    sql("CREATE TABLE more (id INTEGER)"); // It is not locked either.
  });
}

for (const fate of ["missing", "empty"]) {
  withFile.test(`no file is opened if it is ${fate} and its log is not`, async ({ path, open }) => {
    const storage = await open();
    await storage.create(REX);
    const log = readFileSync(`${path}-wal`);
    await storage.close();
    if (fate === "missing") rmSync(path);
    else writeFileSync(path, "");
    writeFileSync(`${path}-wal`, log);
    const link = `${path}.link`;
    symlinkSync(path, link);
    const advice =
      `: the file is ${fate}, but .*-wal may hold pets; put the same file back; before you restore a backup, move the log away$`;
    for (const opened of [path, link]) {
      await assertUnavailable(open(opened), RegExp(advice));
      const reading = openSqliteFile(opened, 0, "read");
      await assertUnavailable(reading, RegExp(advice));
    }
    assert.deepEqual(readFileSync(`${path}-wal`), log);
    assert.equal(existsSync(path), fate === "empty");
  });
}

withFile.test("sqliteStorage says that another program's log is not the one at its path", async ({ t, path, open }) => {
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

withFile.test("sqliteStorage opens no file whose disk cannot have a write-ahead log", async ({ t, open }) => {
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

/** Opens a file of 2,000 pets whose pages are damaged, but for the first. */
async function openDamaged(path: string, open: File["open"]) {
  const storage = await open();
  await Promise.all(Array.from({ length: 2000 }, () => storage.create(REX)));
  await storage.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 4096);
  writeFileSync(path, bytes);
  return await open();
}

withFile.test("sqliteStorage writes no more once a read has met damage, and says what to do", async ({ path, open }) => {
  const damaged = await openDamaged(path, open);
  await damaged.ping();
  const advice = /the file is damaged; restore it from a backup$/;
  await assertUnavailable(damaged.list({ limit: 9 }), advice);
  const stopped = RegExp(`: writing stopped, because ${advice.source}`);
  await assertUnavailable(damaged.create(REX), stopped);
  await assertUnavailable(damaged.apiKeys.insert(KEY), stopped);
  await assertUnavailable(damaged.ping(), stopped);
});

withFile.test("sqliteStorage writes no more once a write has met damage", async ({ path, open }) => {
  const damaged = await openDamaged(path, open);
  const found = /^StorageError: Cannot create pet: the file is damaged/;
  await assert.rejects(damaged.create(REX), found);
  await assertUnavailable(damaged.create(REX), /: writing stopped, because/);
  await assertUnavailable(damaged.ping(), /: writing stopped, because/);
});

for (
  const [what, deleted] of [["in place", ""], ["gone", "-shm"]] as const
) {
  withFile.test(`a read that the disk failed stops creates only if the files are not in place: ${what}`, async ({ t, path, open }) => {
    const storage = await open();
    const rex = await storage.create(REX);
    const { get } = StatementSync.prototype;
    const restore = () => StatementSync.prototype.get = get;
    t.after(restore);
    Object.assign(StatementSync.prototype, {
      get(this: StatementSync, ...values: Parameters<typeof get>) {
        if (`${values}` !== `${rex.id}`) return get.apply(this, values);
        if (deleted !== "") rmSync(path + deleted);
        throw Object.assign(new Error("disk I/O error"), { errcode: 266 });
      },
    });
    const reason = deleted === ""
      ? /: reading or writing the disk failed$/
      : /-shm was deleted while in use/;
    await assertUnavailable(storage.get(rex.id), reason);
    restore();
    if (deleted === "") await storage.create(REX);
    else await assertUnavailable(storage.create(REX), reason);
  });
}

withFile.test("a crowd of reads that meets damage hears that the log was emptied", async ({ t, path, open }) => {
  const storage = await open();
  const { id } = await storage.create(REX);
  const { get } = StatementSync.prototype;
  t.after(() => StatementSync.prototype.get = get);
  Object.assign(StatementSync.prototype, {
    get(this: StatementSync, ...values: Parameters<typeof get>) {
      if (`${values}` !== "9") return get.apply(this, values);
      truncateSync(`${path}-wal`);
      throw Object.assign(new Error("malformed"), { errcode: 11 });
    },
  });
  const crowd = [storage.get(id), storage.get(id)];
  await assertUnavailable(
    storage.get(petId(9n)),
    /Cannot get pet: .*-wal was emptied while in use/,
  );
  await Promise.all(crowd);
});

withFile.test("sqliteStorage writes no more if a transaction that failed cannot be rolled back", async ({ t, open }) => {
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
  await assertUnavailable(
    storage.create(REX),
    /writing stopped after a disk/,
  );
});

withFile.test("sqliteStorage adds no pet that a trigger ignores, and does not say that it did", async ({ open, sql }) => {
  const storage = await open();
  const rex = await storage.create(REX);
  sql(`CREATE TRIGGER no_tom BEFORE INSERT ON pets
    WHEN new.name = 'Tom' BEGIN SELECT RAISE(IGNORE); END`);
  const tom = storage.create(newPet({ ...REX, name: "Tom" }));
  await assert.rejects(tom, /^Error: .*a trigger on pets ignored the row$/);
  assert.deepEqual((await storage.list({ limit: 9 })).pets, [rex]);
});

withFile.test("sqliteStorage is not reached by a ping without the table of pets", async ({ open, sql }) => {
  const storage = await open();
  await storage.ping();
  sql("DROP TABLE pets");
  await assertUnavailable(storage.ping(), /: the table pets is missing$/);
});

withFile.test("sqliteStorage keeps nothing of a create that has ended", async ({ open }) => {
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

withFile.test("sqliteStorage waits for a locked file without stopping the event loop", async ({ path, open }) => {
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

withFile.test("sqliteStorage gives up a file that stays locked, and nothing happened", async ({ path, open }) => {
  const storage = await open(path, { lockTimeout: 30 });
  const unlock = lock(path);
  await assertUnavailable(storage.create(REX), /Cannot create pet: .*locked/);
  await storage.ping();
  unlock();
  const pet = await storage.create(REX);
  assert.deepEqual((await storage.list({ limit: 5 })).pets, [pet]);
});

withFile.test("reads of a locked file are tried in order, one at a time, until lockTimeout", async ({ t, path, open }) => {
  const impatient = await open(path, { lockTimeout: 300 });
  const patient = await open(path, { lockTimeout: 60_000 });
  const ids = (await Promise.all([patient.create(REX), patient.create(REX)]))
    .map(({ id }) => id);
  const busy = Object.assign(new Error("database is locked"), { errcode: 5 });
  const { get } = StatementSync.prototype;
  let isLocked = true;
  let attempts = 0;
  const pauses = t.mock.method(Math, "random", () => 1).mock; // each of 8 ms
  t.after(() => StatementSync.prototype.get = get);
  Object.assign(StatementSync.prototype, {
    get(this: StatementSync, ...values: Parameters<typeof get>) {
      attempts++;
      if (isLocked) throw busy;
      return get.apply(this, values);
    },
  });
  const order: bigint[] = [];
  const since = performance.now();
  /** In 20 turns, and two in each. */
  const readAll = async (storage: typeof patient) => {
    const reads: Promise<unknown>[] = [];
    for (let turn = 0; turn < 20; turn++) {
      for (const id of ids) {
        const read = storage.get(id);
        reads.push(awaitedLater(read.then(() => void order.push(id))));
      }
      await turns(1);
    }
    return reads;
  };
  const refused = await readAll(impatient);
  for (const read of refused) {
    await assertUnavailable(read, /Cannot (?:get pet|read pets): .*locked/);
  }
  const passed = performance.now() - since;
  assert.ok(passed >= 300 && attempts < 80 + passed / 7, `${attempts}`);
  const kept = await readAll(patient);
  isLocked = false;
  const before = pauses.callCount();
  await Promise.all(kept);
  assert.equal(pauses.callCount(), before); // only what is locked pauses
  assert.deepEqual(order, Array.from({ length: 20 }, () => ids).flat());
  // Reads that wait for the lock are not left behind by the end.
  isLocked = true;
  const last = patient.get(ids[0] ?? petId(1n));
  const closing = patient.close();
  isLocked = false;
  assert.ok(await last);
  await closing;
});

onFile(process.versions.deno === undefined && "only Deno has permissions")(
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
      assert.deepEqual(await child.tell(`open ${path}`), [expected], path);
      await child.end();
    }
  },
);
