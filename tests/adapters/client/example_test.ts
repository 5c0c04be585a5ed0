/** The example for client developers does what it says. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { inProcess, KEY } from "./in_process.ts";
import { serving } from "./serving.ts";

const file = fileURLToPath(
  new URL("../../../docs/examples/client.ts", import.meta.url),
);

/** Runs the example on the runtime that runs the tests. */
function run(
  environment: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const isDeno = "Deno" in globalThis;
  const args = isDeno
    ? ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", file]
    : "Bun" in globalThis
    ? [file]
    : ["--disable-warning=ExperimentalWarning", file];
  return new Promise((resolve) => {
    const options = { env: { ...process.env, NO_COLOR: "1", ...environment } };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : Number(error.code),
        stdout,
        stderr,
      });
    });
  });
}

test("the example adds a pet and lists those that are available", async () => {
  const { handle, client } = inProcess();
  await client.createPet({ name: "Tom", categoryId: 1n });
  await client.createPet({ name: "Kit", categoryId: 1n, status: "sold" });
  await serving(handle, async (baseUrl) => {
    const { code, stdout, stderr } = await run({
      PETSTORE_URL: baseUrl,
      PETSTORE_KEY: KEY,
    });
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
    const { code, stdout, stderr } = await run({
      PETSTORE_URL: baseUrl,
      PETSTORE_KEY: "guess",
    });
    assert.equal(stdout, "");
    assert.match(stderr, /API key is invalid: it is unknown or revoked/);
    assert.equal(code, 1);
  });
});
