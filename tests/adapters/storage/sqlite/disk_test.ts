/** `sqliteStorage` on a disk that is full, failing or read-only. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { type Pet, petId } from "../../../../core/pets/pet.ts";
import {
  type PetStorage,
  StorageError,
} from "../../../../core/pets/pet_storage.ts";
import { atEnd } from "../../../support/at_end.ts";
import { compileFailingDisk } from "../../../support/failing_disk.ts";
import { RUNTIME, skipping } from "../../../support/runtime.ts";
import {
  newFolder,
  temporaryDirectory,
} from "../../../support/temporary_directory.ts";
import { turns, until } from "../../../support/time.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { startStorage } from "../../../support/process.ts";

const BIG_REX = newPet({ ...REX, name: "Rex".repeat(80) });

const directory = temporaryDirectory();
const failingDisk = compileFailingDisk(directory);

const toMount = (path: string) =>
  ["-t", "tmpfs", "-o", "size=4m", "tmpfs", path] as const;
const NO_SMALL_DISK = skipping(
  (spawnSync("mount", toMount(directory)).status !== 0 ||
    spawnSync("umount", [directory]).status !== 0) &&
    "only root on Linux can mount a small disk",
);

/** Registers a test on a file system of 4 MB, with a folder beside it, or skips it. */
const onSmallDisk = {
  test(
    title: string,
    check: (
      given: {
        readonly t: TestContext;
        readonly disk: string;
        readonly folder: string;
      },
    ) => Promise<void>,
  ): void {
    test(title, { skip: NO_SMALL_DISK }, async (t) => {
      const folder = newFolder(t);
      const disk = mkdtempSync(join(folder, "disk-"));
      execFileSync("mount", toMount(disk));
      atEnd(t, () => execFileSync("umount", ["--lazy", disk]));
      await check({ t, disk, folder });
    });
  },
};

onSmallDisk.test("sqliteStorage on a full disk refuses creates, reads on, and recovers", async ({ disk }) => {
  const path = join(disk, "full.db");
  const filler = join(disk, "filler");
  writeFileSync(filler, new Uint8Array(1_000_000));
  const storage = await sqliteStorage(path);
  const kept: Pet[] = [];

  const error = await createUntilRefused(storage, kept);
  assert.equal(error.kind, "unavailable");
  assert.match(error.message, /the disk is full/);
  assert.ok(kept.length > 1000);
  await storage.ping();
  assert.equal((await storage.list({ limit: 9 })).pets.length, 9);

  rmSync(filler);
  const create = () => storage.create(BIG_REX);
  kept.push(...await Promise.all(Array.from({ length: 300 }, create)));
  await storage.close();

  const reopened = await sqliteStorage(path);
  for (const { id } of kept) {
    assert.equal((await reopened.get(id))?.name, BIG_REX.name, `${id}`);
  }
  // No refused create happened.
  const last = kept.reduce((last, { id }) => id > last ? id : last, 0n);
  assert.equal(last, BigInt(kept.length));
  assert.equal(await reopened.get(petId(last + 1n)), undefined);
  await reopened.close();
});

onSmallDisk.test("sqliteStorage saves what its deleted log holds once a full disk has space", async ({ disk }) => {
  const path = join(disk, "full.db");
  const filler = join(disk, "filler");
  const storage = await sqliteStorage(path);
  const create = () => storage.create(BIG_REX);
  await Promise.all(Array.from({ length: 200 }, create));
  assert.throws(() => writeFileSync(filler, new Uint8Array(5_000_000)));
  rmSync(`${path}-wal`);
  await assert.rejects(storage.ping(), /-wal was deleted while in use/);
  await delay(250); // it looks each 100 ms; a look that comes later finds the space at once
  rmSync(filler);
  await until(
    "the file has it all",
    () => readFileSync(path).includes(BIG_REX.name),
  );
  await storage.close();
  const reopened = await sqliteStorage(path);
  assert.equal((await reopened.list({ limit: 999 })).pets.length, 200);
  await reopened.close();
});

onSmallDisk.test("an index that was emptied on a full disk is made anew once there is space", async ({ disk }) => {
  // In another process, which a touch of what is not there would end.
  const server = startStorage();
  const path = join(disk, "full.db");
  const filler = join(disk, "filler");
  await server.tell(`open ${path}`);
  const created = await server.tell("create 20 4");
  truncateSync(`${path}-shm`);
  const write = () => writeFileSync(filler, new Uint8Array(1e5), { flag: "a" });
  assert.throws(() => {
    for (;;) write();
  }, /ENOSPC|os error 28|space/i);
  await delay(500); // it looks each 100 ms; if it has not, the ping does
  const ping = `${await server.tell("ping")}`;
  assert.match(ping, /full\.db-shm was emptied while in use/);
  rmSync(filler);
  assert.deepEqual(await server.tell("close"), ["closed"]);
  await server.end();
  const storage = await sqliteStorage(path);
  assert.equal(
    (await storage.list({ limit: 99 })).pets.length,
    created.length,
  );
  await storage.close();
});

onSmallDisk.test("sqliteStorage refuses to open a file on a read-only disk", async ({ disk }) => {
  const path = join(disk, "old.db");
  await (await sqliteStorage(path)).close();
  execFileSync("mount", ["-o", "remount,ro", disk]);
  for (const name of ["old.db", "new.db"]) {
    await assert.rejects(sqliteStorage(join(disk, name)), {
      name: "StorageError",
      kind: "unavailable",
      message: / read-only(?:, for this user or for all| for this user)$/,
    }, name);
  }
});

onSmallDisk.test("sqliteStorage warns once of a file that is mounted without its folder", async ({ t, disk, folder }) => {
  await (await sqliteStorage(join(disk, "pets.db"))).close();
  const path = join(folder, "mounted.db");
  writeFileSync(path, "");
  execFileSync("mount", ["--bind", join(disk, "pets.db"), path]);
  const lines: string[] = [];
  t.mock.method(console, "warn", (line: string) => void lines.push(line));
  try {
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await assert.rejects(sqliteStorage(path, { lockTimeout: 30 }), /locked/);
    other.close();
    await (await sqliteStorage(path)).close();
  } finally {
    execFileSync("umount", [path]);
  }
  assert.equal(lines.length, 1);
  assert.match(`${lines}`, /another file system .* mount the folder$/);
});

const NO_FAILING_DISK = skipping(
  failingDisk === undefined && "it needs Linux and a C compiler",
);

for (const isKilled of [false, true]) {
  test(
    `a disk too full for the index of the log makes a create uncertain, ${
      isKilled ? "then SIGKILL" : "then space"
    }`,
    { skip: NO_FAILING_DISK, timeout: 60_000 },
    async () => {
      const path = join(directory, `index-${isKilled}.db`);
      const trigger = join(directory, `full-${isKilled}`);
      const child = startStorage({
        env: { LD_PRELOAD: failingDisk ?? "", FULL_FOR_SHM: trigger },
      });
      assert.deepEqual(await child.tell(`open ${path}`), ["opened"]);
      const created = [...await child.tell("create 1 1")];
      // As long as somebody reads an old state, the log only grows: its index has room for 4062 pages.
      const reader = new DatabaseSync(path);
      reader.exec("BEGIN");
      reader.prepare("SELECT * FROM pets").all();
      writeFileSync(trigger, "");

      const answers = await child.tell("create 1500 1");
      const first = answers.findIndex((each) => !each.startsWith("created "));
      assert.ok(first > 500, `${first} created`);
      created.push(...answers.slice(0, first));
      for (const answer of answers.slice(first)) {
        assert.equal(
          answer,
          "failed outcome_unknown Outcome unknown (create pet): the disk is full",
        );
      }
      if (!isKilled) {
        rmSync(trigger);
        const later = await child.tell("create 50 16");
        assert.deepEqual(
          later.filter((each) => !each.startsWith("created ")),
          [],
        );
        created.push(...later);
      }
      await child.kill();
      // Copies, because closing the reader would put the log away.
      const found = `${path}.found`;
      copyFileSync(path, found);
      copyFileSync(`${path}-wal`, `${found}-wal`);
      reader.close();

      const reopened = await sqliteStorage(found);
      await assertStored(reopened, created);
      // Each uncertain create replaced the one before. The last is in the log.
      const next = petId(BigInt(created.length + 1));
      assert.equal(await reopened.get(next) !== undefined, isKilled);
      assert.equal(await reopened.get(petId(next + 1n)), undefined);
      await reopened.close();
    },
  );
}

test("sqliteStorage fulfils no create once the disk has failed to sync", {
  skip: NO_FAILING_DISK,
}, async () => {
  const path = join(directory, "failing.db");
  const trigger = join(directory, "fail");
  const child = startStorage({
    env: { LD_PRELOAD: failingDisk ?? "", FAIL_FSYNC: trigger },
  });
  assert.deepEqual(await child.tell(`open ${path}`), ["opened"]);
  assert.equal((await child.tell("create 5 5")).length, 5);

  writeFileSync(trigger, "");
  const failed = await child.tell("create 5 5");
  assert.equal(failed.length, 5);
  for (const answer of failed) assert.match(answer, /^failed outcome_unknown /);

  rmSync(trigger);
  const refused = await child.tell("create 5 5");
  assert.equal(refused.length, 5);
  for (const answer of refused) {
    assert.match(answer, /^failed unavailable .*restart$/);
  }
  await child.end();

  const reopened = await sqliteStorage(path);
  const pets = (await reopened.list({ limit: 100 })).pets;
  assert.ok(pets.length === 5 || pets.length === 10, `${pets.length} pets`);
  await reopened.close();
});

test(
  "sqliteStorage is unavailable while its file may not grow, and reads on",
  {
    skip: skipping(
      process.platform === "win32" && "Windows has no limit of file sizes",
    ),
  },
  async () => {
    const path = join(directory, "limited.db");
    // A file that reaches the limit (of 512 or 1024 bytes each) fails to grow with EFBIG.
    const child = startStorage({
      prefix: ["sh", "-c", `trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"`],
    });
    assert.deepEqual(await child.tell(`open ${path}`), ["opened"]);
    const answers = await child.tell("create 4000 16");
    await child.end();
    const refused = answers.filter((answer) => !answer.startsWith("created "));
    assert.equal(answers.length, 4000);
    assert.ok(refused.length > 100 && refused.length < 3900);
    for (const answer of refused) {
      assert.match(
        answer,
        /^failed unavailable .*: the disk is full or failing/,
      );
    }

    const reopened = await sqliteStorage(path);
    await assertStored(
      reopened,
      answers.filter((each) => each.startsWith("created ")),
    );
    await reopened.close();
  },
);

for (const [ms, least] of [[0, 0], [20, 40], [1000, 64]] as const) {
  const expected = RUNTIME === "node" ? least : 0;
  test(`sqliteStorage lets ${expected} turns pass after a group that took ${ms} ms`, async (t) => {
    const storage = await sqliteStorage(join(directory, `slow${ms}.db`));
    let now = 0;
    // It is asked before the group and after it.
    t.mock.method(performance, "now", () => now += ms);
    const passed = await turnsUntil(storage.create(REX));
    assert.ok(passed >= expected && passed <= expected + 9, `${passed}`);
    await storage.close();
  });
}

async function turnsUntil(result: Promise<unknown>): Promise<number> {
  let isOver = false;
  let passed = 0;
  const over = result.finally(() => isOver = true);
  while (!isOver) {
    await turns(1);
    passed++;
  }
  await over;
  return passed;
}

/** Checks that what was answered with `created ID NAME` is there. */
async function assertStored(
  storage: PetStorage,
  answers: readonly string[],
): Promise<void> {
  for (const answer of answers) {
    const [, id = "", name] = answer.split(" ");
    assert.equal((await storage.get(petId(BigInt(id))))?.name, name, answer);
  }
}

/** Creates pets, 50 at once, until one is refused. */
async function createUntilRefused(
  storage: PetStorage,
  kept: Pet[],
): Promise<StorageError> {
  for (;;) {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => storage.create(BIG_REX)),
    );
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") kept.push(outcome.value);
      else {
        assert.ok(outcome.reason instanceof StorageError, `${outcome.reason}`);
        return outcome.reason;
      }
    }
  }
}
