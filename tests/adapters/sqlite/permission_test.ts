/** Files that the user may not read or write. Root may do both, unless it gives its privileges up. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { startStorage } from "../../support/programs/storage_process.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

const isRoot = process.getuid?.() === 0;
const prefix = isRoot
  ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
  : [];
const skip = process.getuid === undefined
  ? "there are no file modes here"
  : isRoot && spawnSync("setpriv", ["--version"]).status !== 0 &&
    "root may do everything, and setpriv is missing";

for (
  const [title, mode, folderMode, culprit] of [
    ["may not be read", 0o200, 0o700, "pets.db"],
    ["may not be written", 0o400, 0o700, "pets.db"],
    ["is in a folder that may not be written", 0o600, 0o500, ""],
  ] as const
) {
  test(`a file that ${title} is refused with its reason when it is opened`, {
    skip,
  }, async () => {
    const folder = join(temporaryDirectory(), "folder");
    mkdirSync(folder);
    const path = join(folder, "pets.db");
    await (await sqliteStorage(path)).close();
    chmodSync(path, mode);
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
