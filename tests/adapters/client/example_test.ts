/** The example for client developers does what it says. */
import assert from "node:assert/strict";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { commandLine } from "../../support/runtime.ts";
import { run } from "../standalone/program.ts";
import { inProcess, KEY } from "./in_process.ts";
import { serving } from "./serving.ts";

const cwd = fileURLToPath(new URL("../../..", import.meta.url));
const file = "docs/examples/client.ts";

/** Runs the example on the runtime that runs the tests. */
async function runExample(PETSTORE_URL: string, PETSTORE_KEY: string) {
  const flags = ["--quiet", "--no-prompt", "--allow-env", "--allow-net"];
  const env = { PETSTORE_URL, PETSTORE_KEY };
  const { exited, stdout, stderr } = run(commandLine(file, flags), {
    cwd,
    env,
  });
  return { code: await exited, stdout: stdout(), stderr: stderr() };
}

test("the example adds a pet and lists those that are available", async () => {
  const { handle, client } = inProcess();
  await client.createPet({ name: "Tom", categoryId: 1n });
  await client.createPet({ name: "Kit", categoryId: 1n, status: "sold" });
  await serving(handle, async (baseUrl) => {
    const { code, stdout, stderr } = await runExample(baseUrl, KEY);
    assert.equal(stderr, "");
    assert.equal(
      stdout,
      "Added Rex as number 3\n1 Tom, category 1\n3 Rex, category 9007199254740993\n",
    );
    assert.equal(code, 0);
  });
});

test("the example ends with 1 and says why if the key is wrong", async () => {
  await serving(inProcess().handle, async (baseUrl) => {
    const { code, stdout, stderr } = await runExample(baseUrl, "guess");
    assert.equal(stdout, "");
    assert.match(stderr, /API key is invalid: it is unknown or revoked/);
    assert.equal(code, 1);
  });
});
