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

function run(BASE_URL: string, ...args: readonly string[]) {
  const [command = "", ...rest] = commandLine(PROGRAM);
  const env = { ...process.env, BASE_URL };
  return spawnSync(command, [...rest, ...args], { env, encoding: "utf8" });
}

test("the program openapi prints the document of a service at BASE_URL", () => {
  const { status, stdout } = run("https://api.example.com/v1");
  assert.equal(status, 0);
  const document = openApi("https://api.example.com/v1");
  assert.equal(stdout, `${JSON.stringify(document, null, 2)}\n`);
});

test("the program openapi says what is wrong with BASE_URL or its arguments", () => {
  for (
    const [BASE_URL, args, code, message] of [
      ["v1", [], 1, /^Cannot read BASE_URL: Wrong .*\n$/],
      ["/v1", ["--bogus"], 2, /^There is no option --bogus, only --help$/m],
      ["/v1", ["pets"], 2, /^openapi takes no arguments$/m],
    ] as const
  ) {
    const { status, stdout, stderr } = run(BASE_URL, ...args);
    assert.deepEqual([status, stdout], [code, ""]);
    assert.match(stderr, message);
  }
  assert.match(run("/v1", "--help").stdout, /^Usage: .*\nExample: /m);
});
