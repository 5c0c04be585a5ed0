/** The modes of files, and files that the user may not use: root may, unless it gives its privileges up. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";
import { REX } from "../../support/pets.ts";
import { startStorage } from "../../support/programs.ts";

const isRoot = process.getuid?.() === 0;
const prefix = isRoot
  ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
  : [];
const hasNoModes = process.getuid === undefined &&
  "there are no file modes here";
const skip = hasNoModes ||
  isRoot && spawnSync("setpriv", ["--version"]).status !== 0 &&
    "root may do everything, and setpriv is missing";

for (
  const [title, mode, folderMode, culprit] of [
    ["may not be read", 0o200, 0o700, "pets.db"],
    ["may not be written", 0o400, 0o700, "pets.db"],
    ["has no tables, and may not be written", 0o400, 0o700, "pets.db"],
    ["is in a folder that may not be written", 0o600, 0o500, ""],
    ["is missing in a folder that may not be written", 0, 0o500, ""],
  ] as const
) {
  test(`a file that ${title} is refused with its reason when it is opened`, {
    skip,
  }, async () => {
    const folder = join(temporaryDirectory(), "folder");
    mkdirSync(folder);
    const path = join(folder, "pets.db");
    if (mode > 0) {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA journal_mode = WAL");
      db.close();
      if (!title.startsWith("has no tables")) {
        await (await sqliteStorage(path)).close();
      }
      chmodSync(path, mode);
    }
    chmodSync(folder, folderMode);
    const child = startStorage({ prefix });
    child.send(`open ${path}`);
    const answers = await child.answersUntil("");
    await child.end();
    chmodSync(folder, 0o700);
    assert.deepEqual(answers, [
      `failed unavailable Cannot open ${path}: this user must be able to read and write ` +
      `${join(folder, culprit)}; change its owner or mode`,
    ]);
  });
}

test(
  "sqliteStorage makes files that only their owner can read",
  { skip: hasNoModes },
  async () => {
    const before = process.umask(0);
    const path = join(temporaryDirectory(), "pets.db");
    const storage = await sqliteStorage(path);
    process.umask(before);
    await storage.create(REX);
    assert.deepEqual(modes(path), ["600", "600", "600"]);
    await storage.close();
  },
);

test(
  "sqliteStorage makes files that only their owner can read where a symbolic link leads",
  { skip: hasNoModes },
  async () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, "data"));
    symlinkSync("data/link.db", join(folder, "pets.db"));
    symlinkSync("real.db", join(folder, "data/link.db"));
    const before = process.umask(0);
    const storage = await sqliteStorage(join(folder, "pets.db"));
    process.umask(before);
    await storage.create(REX);
    const real = join(folder, "data/real.db");
    assert.deepEqual(modes(real), ["600", "600", "600"]);
    await storage.close();
  },
);

test("sqliteStorage names the missing directory that a symbolic link leads to", async () => {
  const folder = temporaryDirectory();
  symlinkSync("data/real.db", join(folder, "pets.db"));
  await assert.rejects(sqliteStorage(join(folder, "pets.db")), {
    message: /the directory .*data does not exist; create it first$/,
  });
});

test(
  "sqliteStorage leaves the mode of a file that is there",
  { skip: hasNoModes },
  async () => {
    const path = join(temporaryDirectory(), "pets.db");
    writeFileSync(path, "");
    chmodSync(path, 0o640);
    const storage = await sqliteStorage(path);
    await storage.create(REX);
    assert.deepEqual(modes(path), ["640", "640", "640"]);
    await storage.close();
  },
);

/** The modes of a file and of those that SQLite keeps beside it. */
function modes(path: string): readonly string[] {
  return ["", "-wal", "-shm"].map((suffix) =>
    (statSync(path + suffix).mode & 0o777).toString(8)
  );
}
