/** Permissions that the server drops once its database is open. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { commandLine } from "../../support/runtime.ts";
import { freePort, run, RUNTIME, taskFlags, testInFolder } from "./program.ts";

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
  const command = commandLine(PROGRAM, taskFlags("start"));
  const args = [await freePort(), count].map(String);
  const { exited, stdout, stderr } = run([...command, ...args], {
    cwd,
    env: { DATABASE_URL, PETSTORE_API_KEYS: "sesame", REQUEST_LOG: "off" },
  });
  assert.equal(await exited, 0, stderr());
  return stdout().trim();
}

testInFolder(
  "a server on SQLite writes its database and nothing else",
  async (cwd) => {
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
    const { pets } = await storage.list({ limit: 1, after: 599n });
    assert.equal(pets.length, 1);
    await storage.close();
  },
  { skip },
);

for (const database of ["memory", "PostgreSQL"]) {
  const isMemory = database === "memory";
  testInFolder(
    `a server with its pets in ${database} neither writes nor reads files`,
    async (cwd) => {
      const url = isMemory ? "memory:" : await postgres.newDatabase();
      const refused = await refusals(cwd, url, 3);
      assert.equal(refused, "write, remove, open another database, read");
    },
    { skip: skip || (!isMemory && postgres.skip) },
  );
}
