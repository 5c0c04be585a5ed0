import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, RUNTIME } from "../../support/runtime.ts";
import { MAIN } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { run } from "../../support/process.ts";

test("a Unix socket that Deno may not use ends the program with the reason", {
  skip: RUNTIME !== "deno" && "only Deno refuses",
  timeout: 60_000,
}, async (t) => {
  const cwd = newFolder(t);
  const env = { DATABASE_URL: "postgres://ann@/pets?host=/nowhere" };
  const flags = ["--no-prompt", "--allow-net", "--allow-env"]
    .concat("--allow-read=.", "--allow-write=.");
  for (const args of [["keys", "list"], ["start", "--port", "0"]]) {
    const command = [...commandLine(MAIN, flags), ...args];
    const { code, stderr } = await run(command, { cwd, env });
    assert.equal(code, 1, `${args}`);
    assert.match(stderr, /read access to "\/nowhere/, `${args}`);
  }
});
