/** What the server can no longer do once its database is open. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { freePort, inNewFolder, RUNTIME, taskFlags } from "./program.ts";

const skip = RUNTIME !== "deno" && "only Deno has permissions";
const postgres = await sharedPostgres();
const PROGRAM = fileURLToPath(
  new URL("permissions_program.ts", import.meta.url),
);

/** Runs the program in a folder, and returns the attempts that were refused. */
async function refusals(
  cwd: string,
  DATABASE_URL: string,
  count: number,
): Promise<string> {
  writeFileSync(join(cwd, "readable.txt"), "text");
  const port = await freePort();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...taskFlags("start"), PROGRAM, `${port}`, `${count}`],
    cwd,
    env: { DATABASE_URL, PETSTORE_API_KEYS: "sesame", REQUEST_LOG: "off" },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

test(
  "a server on SQLite writes its database and nothing else",
  { skip },
  async () => {
    await inNewFolder(async (cwd) => {
      const path = join(cwd, "pets.db");
      // So many that SQLite moves its log into the file meanwhile.
      const refused = await refusals(cwd, `sqlite:${path}`, 600);
      assert.equal(refused, "write, remove, open another database");
      assert.equal(
        existsSync(`${path}-wal`),
        false,
        "the log is gone at the end",
      );
      const storage = await sqliteStorage(path);
      assert.equal(
        (await storage.list({ limit: 1, after: 599n })).pets.length,
        1,
      );
      await storage.close();
    });
  },
);

for (const database of ["memory", "PostgreSQL"]) {
  const isMemory = database === "memory";
  test(`a server with its pets in ${database} neither writes nor reads files`, {
    skip: skip || (!isMemory && postgres.skip),
  }, async () => {
    await inNewFolder(async (cwd) => {
      const url = isMemory ? "memory:" : await postgres.newDatabase();
      const refused = await refusals(cwd, url, 3);
      assert.equal(refused, "write, remove, open another database, read");
    });
  });
}
