import assert from "node:assert/strict";
import test from "node:test";
import { toOpenApi30 } from "../../../adapters/standalone/openapi_30.ts";
import { openApi } from "../../../mod.ts";
import { run } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine } from "../../support/runtime.ts";

const PROGRAM = pathOf("adapters/standalone/openapi.ts");

function print(BASE_URL: string, ...args: readonly string[]) {
  return run([...commandLine(PROGRAM), ...args], { env: { BASE_URL } });
}

test("the program openapi prints the document of a service at BASE_URL", async () => {
  const { code, stdout } = await print("https://api.example.com/v1");
  assert.equal(code, 0);
  const document = openApi("https://api.example.com/v1");
  assert.equal(stdout, `${JSON.stringify(document, null, 2)}\n`);
});

test("the program openapi prints a document of OpenAPI 3.0 with --3.0", async () => {
  const { code, stdout } = await print("/v1", "--3.0");
  assert.equal(code, 0);
  const document = toOpenApi30(openApi());
  assert.equal(stdout, `${JSON.stringify(document, null, 2)}\n`);
});

test("the program openapi says what is wrong with BASE_URL or its arguments", async () => {
  const cases = [
    ["v1", [], 1, /^Cannot read BASE_URL: it must be a path .*\n$/],
    [
      "/v1",
      ["--bogus"],
      2,
      /^Unknown option '--bogus'$/m,
    ],
    ["/v1", ["pets"], 2, /^Unexpected argument 'pets'\. /],
  ] as const;
  for (const [BASE_URL, args, expected, message] of cases) {
    const { code, stdout, stderr } = await print(BASE_URL, ...args);
    assert.deepEqual([code, stdout], [expected, ""]);
    assert.match(stderr, message);
  }
  const { stdout } = await print("/v1", "--help");
  assert.match(stdout, /^Usage: .*\nExample: /m);
});
