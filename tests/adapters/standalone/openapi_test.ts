import assert from "node:assert/strict";
import test from "node:test";
import { run } from "../../support/process.ts";
import { pathOf, readText } from "../../support/repository.ts";
import { commandLine } from "../../support/runtime.ts";

const PROGRAM = pathOf("adapters/standalone/openapi.ts");

function print(BASE_URL: string, ...args: readonly string[]) {
  return run([...commandLine(PROGRAM), ...args], { env: { BASE_URL } });
}

for (const [file, ...args] of [["openapi"], ["openapi-3.0", "--3.0"]]) {
  test(`the program openapi ${args} prints docs/${file}.json`, async () => {
    const { code, stdout } = await print("/v1", ...args);
    assert.equal(code, 0);
    assert.equal(stdout, readText(`docs/${file}.json`));
  });
}

test("the errors of a range of statuses in OpenAPI 3.0 are in that range", () => {
  let ranges = 0;
  JSON.parse(readText("docs/openapi-3.0.json"), (key, value) => {
    if (/^[45]XX$/.test(key)) {
      ranges++;
      for (const status of value.description.match(/\d+/g) ?? []) {
        assert.equal(status[0], key[0], value.description);
      }
    }
    return value;
  });
  assert.ok(ranges > 0);
});

test("the program openapi says what is wrong with BASE_URL or its arguments", async () => {
  const cases = [
    ["v1", [], 1, /^Cannot read BASE_URL: it must be a path .*\n$/],
    ["/v1", ["--bogus"], 2, /^Unknown option '--bogus'$/m],
    ["/v1", ["pets"], 2, /^Unexpected argument 'pets'\. /],
  ] as const;
  for (const [BASE_URL, args, expected, message] of cases) {
    const { code, stdout, stderr } = await print(BASE_URL, ...args);
    assert.deepEqual([code, stdout], [expected, ""], `${args}`);
    assert.match(stderr, message, `${args}`);
  }
  const { stdout } = await print("/v1", "--help");
  assert.match(stdout, /^Usage: .*\nExample: /m);
});

test("the program openapi says in a line that the reader of its output has gone", async () => {
  const pipe = ["sh", "-c", '"$@" | true', "sh"];
  const { stderr } = await run([...pipe, ...commandLine(PROGRAM)]);
  assert.match(stderr, /^.*(?:EPIPE|Broken pipe).*\n$/);
});
