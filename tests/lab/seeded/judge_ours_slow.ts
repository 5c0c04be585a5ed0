/** The judge, on our own server, on each runtime and storage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";
import { findRuntimes } from "../../support/runtime.ts";
import { QUIET, startMain } from "../../support/standalone.ts";
import { runJudge } from "./run_judge.ts";

const KEY = ["--key", "secret"];
const newPath = temporaryFiles();
const postgres = await sharedPostgres();

/** Opens a new database, by the storage that it is for. */
const DATABASES = {
  memory: () => "memory:",
  SQLite: () => `sqlite:${newPath()}`,
  PostgreSQL: () => postgres.emptyDatabase(),
};

for (const runtime of findRuntimes()) {
  const { name, missing } = runtime;
  for (const [storage, open] of Object.entries(DATABASES)) {
    const skip = missing ?? (storage === "PostgreSQL" && postgres.skip);
    test(
      `the judge on ${name} finds no fault with our server there on ${storage}`,
      { skip },
      async (t) => {
        const env = { ...QUIET, DATABASE_URL: await open() };
        const { origin } = await startMain(t, { runtime, env });
        const args = [`${origin}/v1`, ...KEY];
        const { code, text } = await runJudge(args, { runtime });
        assert.equal(code, 0, text);
        assert.match(text, /: \d+ hold, 0 fail, 0 can.*\n.*, 0 fail, 1 can/);
      },
    );
  }
}
