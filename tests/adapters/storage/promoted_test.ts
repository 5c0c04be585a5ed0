/** On V8, what a database has read is garbage at the next collection of young objects. */
import assert from "node:assert/strict";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runWell } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine, RUNTIME, testUnless } from "../../support/runtime.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";

const postgres = await sharedPostgres();
const newPath = temporaryFiles();
const program = pathOf("tests/support/programs/promoted.ts");

const isBun = RUNTIME === "bun" && "it has no V8";
const DATABASES = [
  ["SQLite", isBun, newPath],
  ["PostgreSQL", isBun || postgres.skip, postgres.emptyDatabase],
] as const;

for (const [name, skip, open] of DATABASES) {
  const onThisDatabase = { test: testUnless(skip) };
  for (const callers of [1, 64]) {
    onThisDatabase.test(`pages of ${name} stay out of the old generation with ${callers} readers`, async () => {
      const args = [await open(), String(callers)];
      const bytes = await runWell([...commandLine(program), ...args]);
      assert(Number(bytes) < 400, `${bytes} bytes of a page`);
    });
  }
}
