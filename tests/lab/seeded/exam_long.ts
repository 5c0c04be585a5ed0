/** The exam finds no harm in right clients, in each trial, on each runtime. */
import assert from "node:assert/strict";
import test from "node:test";
import { run } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine, findRuntimes } from "../../support/runtime.ts";

for (const runtime of findRuntimes()) {
  const { name, missing = false } = runtime;
  test(
    `the exam finds no harm in right clients in all trials, on ${name}`,
    { skip: missing, timeout: 600_000 },
    async () => {
      const program = pathOf("tests/lab/seeded/examining.ts");
      const { stdout, stderr } = await run(
        commandLine(program, ["-A"], runtime),
      );
      assert.deepEqual(JSON.parse(stdout || "0"), [], stderr);
    },
  );
}
