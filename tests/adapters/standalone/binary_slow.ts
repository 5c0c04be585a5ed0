/** All commands as a single binary, which `deno task compile` makes with Bun. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask } from "../../contract/ask.ts";
import { readText, ROOT } from "../../support/repository.ts";
import { findRuntime, skipping } from "../../support/runtime.ts";
import { run, startProgram } from "../../support/process.ts";
import { untilListening } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const bun = findRuntime("bun");

test(
  "deno task compile makes a binary that serves, and says why it has no page",
  {
    skip: skipping(bun.missing ?? false),
    timeout: 120_000,
  },
  async (t) => {
    const cwd = newFolder(t);
    const { tasks } = JSON.parse(readText("deno.json"));
    const words: string[] = tasks.compile.command
      .replace("--outfile petstore", `--outfile ${join(cwd, "petstore")}`)
      .split(" ").slice(1);
    const built = await run([bun.command, ...words], { cwd: ROOT });
    assert.equal(built.code, 0, built.stderr);

    const env = { PETSTORE_API_KEYS: "secret" };
    const command = [join(cwd, "petstore"), "start", "--port", "0"];
    const program = startProgram(t, command, { cwd, env });
    const server = await untilListening(program, "secret");
    const body = '{"name":"Rex","categoryId":9007199254740993}';
    const created = await ask(server, "POST", "/v1/pets", { body });
    assert.equal(
      created.text,
      '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}',
    );
    const page = await ask(server, "GET", "/docs");
    assert.equal(page.status, 404);
    assert.match(
      page.text,
      /"No page at \/docs: this binary has none; the npm /,
    );
    await server.end();
    // Node's cache of compiled code would be at the root of the disk.
    assert.equal(existsSync("/node_modules/.cache/petstore"), false);
    const { stdout } = await run([command[0] ?? "", "--help"], { cwd });
    assert.match(stdout, /^Usage: +\.\/petstore /m);
    assert.match(stdout, /^ {2}sandbox .*\n {2}judge .*\n {2}exam /m);
    for (const name of ["sandbox", "judge", "exam"]) {
      const { code, stdout } = await run([command[0] ?? "", name, "--help"]);
      assert.equal(code, 0, name);
      assert.match(
        stdout,
        RegExp(`^Usage:.* \\./petstore ${name} `, "m"),
        name,
      );
    }
    const trials = ["exam", "--only", "429", "--", "sh", "-c", "exit 77"];
    const { stderr } = await run([command[0] ?? "", ...trials]);
    assert.match(stderr, /supports none of the calls/);
  },
);
