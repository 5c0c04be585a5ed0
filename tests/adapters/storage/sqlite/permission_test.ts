/**
 * The modes of files, and files that the user may not use. Root may, unless it gives up its
 * privileges.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { temporaryDirectory } from "../../../support/temporary_directory.ts";
import { REX } from "../../../support/pets.ts";
import { startStorage } from "../../../support/process.ts";

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
    const answers = await child.tell(`open ${path}`);
    await child.end();
    chmodSync(folder, 0o700);
    // A log of this user would lock out the owner of the file.
    assert.deepEqual(readdirSync(folder), mode > 0 ? ["pets.db"] : []);
    assert.deepEqual(answers, [
      `failed unavailable Cannot open ${path}: this user must be able to read and write ` +
      `${join(folder, culprit)}; change its owner or mode`,
    ]);
  });
}

test(
  "a file that only its owner may write is refused by name in a folder of a group",
  {
    skip: skip || !isRoot && "only root may give files away",
  },
  async () => {
    const folder = join(temporaryDirectory(), "folder");
    mkdirSync(folder);
    const path = join(folder, "pets.db");
    await (await sqliteStorage(path)).close();
    for (const [used, mode] of [[path, 0o640], [folder, 0o770]] as const) {
      chownSync(used, 12345, 0);
      chmodSync(used, mode);
    }
    const child = startStorage({ prefix });
    const answers = await child.tell(`open ${path}`);
    await child.end();
    assert.deepEqual(answers, [
      `failed unavailable Cannot open ${path}: this user must be able to read and write ${path}; change its owner or mode`,
    ]);
  },
);

/** What is at a path before, and the file that is used then. */
const places = {
  nothing: (path: string) => path,
  links(path: string) {
    mkdirSync(`${path}.data`);
    symlinkSync("pets.db.data/link.db", path);
    symlinkSync("real.db", `${path}.data/link.db`);
    return `${path}.data/real.db`;
  },
  file(path: string) {
    writeFileSync(path, "");
    chmodSync(path, 0o640);
    return path;
  },
};
for (
  const [title, before, mode] of [
    ["makes files that only their owner can read", "nothing", "600"],
    [
      "makes files that only their owner can read where a symbolic link leads",
      "links",
      "600",
    ],
    ["leaves the mode of a file that is there", "file", "640"],
  ] as const
) {
  test(`sqliteStorage ${title}`, { skip: hasNoModes }, async () => {
    const path = join(temporaryDirectory(), "pets.db");
    const file = places[before](path);
    const mask = process.umask(0);
    const storage = await sqliteStorage(path);
    process.umask(mask);
    await storage.create(REX);
    const modes = ["", "-wal", "-shm"].map((suffix) =>
      (statSync(file + suffix).mode & 0o777).toString(8)
    );
    assert.deepEqual(modes, [mode, mode, mode]);
    await storage.close();
  });
}

test("sqliteStorage names the missing directory that a symbolic link leads to", async () => {
  const path = join(temporaryDirectory(), "pets.db");
  symlinkSync("data/real.db", path);
  await assert.rejects(sqliteStorage(path), {
    message: /the directory .*data does not exist; create it first$/,
  });
});
