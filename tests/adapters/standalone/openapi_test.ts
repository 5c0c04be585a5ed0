import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { openApi } from "../../../mod.ts";
import { commandLine } from "../../support/runtime.ts";

const PROGRAM = fileURLToPath(
  new URL("../../../adapters/standalone/openapi.ts", import.meta.url),
);

function run(BASE_URL: string) {
  const [command = "", ...args] = commandLine(PROGRAM);
  const env = { ...process.env, BASE_URL };
  return spawnSync(command, args, { env, encoding: "utf8" });
}

test("the program openapi prints the document of a service at BASE_URL", () => {
  const { status, stdout } = run("https://api.example.com/v1");
  assert.equal(status, 0);
  const document = openApi("https://api.example.com/v1");
  assert.equal(stdout, `${JSON.stringify(document, null, 2)}\n`);
});

test("the program openapi says what is wrong if BASE_URL is no base address", () => {
  const { status, stdout, stderr } = run("v1");
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^Cannot read BASE_URL: Wrong .*\n$/);
});
