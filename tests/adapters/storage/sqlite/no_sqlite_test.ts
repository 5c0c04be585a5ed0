/** What a runtime without `node:sqlite` is told, such as Node 20. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { newFolder } from "../../../support/temporary_directory.ts";
import { pathOf } from "../../../support/repository.ts";
import { run } from "../../../support/process.ts";
import { findRuntime, testUnless } from "../../../support/runtime.ts";

const node = findRuntime("node");

testUnless(node.missing ?? false)(
  "sqliteStorage says what to do if there is no node:sqlite, and makes no file",
  async (t) => {
    const file = join(newFolder(t), "pets.db");
    const module = pathToFileURL(pathOf("adapters/storage/sqlite/mod.ts")).href;
    const program = `import { sqliteStorage } from "${module}";
      await sqliteStorage(${JSON.stringify(file)}).catch(({ message }) =>
        console.log(message));`;
    const flags = ["--no-experimental-sqlite", "--input-type=module"];
    const { stdout } = await run([node.command, ...flags, "-e", program]);
    assert.equal(
      stdout,
      `Cannot open ${file}: this runtime has no node:sqlite; use Node 22.18, Deno 2.9, Bun 1.4 or later\n`,
    );
    assert.equal(existsSync(file), false);
  },
);
