/** The runner of the tests: what it says of a test that hangs, and of one that was skipped. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { passes, reportSkips } from "./run_step.ts";
import { findRuntime, RUNTIME, testUnless } from "./runtime.ts";
import { temporaryDirectory } from "./temporary_directory.ts";

const directory = temporaryDirectory();
const skip = RUNTIME !== "deno" && "the tests are run by Deno";
const it = testUnless(skip);

/** Sets a variable of the environment until the test is over. */
function set(t: TestContext, name: string, value: string): void {
  const kept = process.env[name];
  process.env[name] = value;
  t.after(() => {
    if (kept === undefined) delete process.env[name];
    else process.env[name] = kept;
  });
}

it("a test that hangs is named and ended", async (t) => {
  const file = join(directory, "hanging_test.ts");
  writeFileSync(
    file,
    `import test, { type TestContext } from "node:test";
    test("it waits for ever", () => new Promise(() => setInterval(() => {}, 9)));`,
  );
  const lines: string[] = [];
  t.mock.method(console, "log", (line: string) => void lines.push(line));
  // On a busy machine the test may not have begun when the first patience ends.
  for (const minutes of [0.02, 0.1, 0.5]) {
    const args = ["test", "-A", "--no-config", file];
    const options = { minutes, isBeside: false };
    assert.equal(await passes(["deno", ...args], options), false);
    if (lines.some((line) => line.includes("it waits for ever"))) break;
  }
  const text = lines.join("\n");
  assert.match(text, /^HANGS: no test has ended for 0\.\d+ minutes/m);
  assert.match(text, /it waits for ever/);
});

test("a runtime that is missing or too old is named with its version", (t) => {
  const old = join(directory, "node");
  writeFileSync(old, "#!/bin/sh\necho v20.19.5\n", { mode: 0o755 });
  const hint = "install it, or set PETSTORE_TEST_NODE";
  const cases = [
    [old, "is node 20.19"],
    [join(directory, "nothing"), "cannot be run"],
  ] as const;
  set(t, "PETSTORE_TEST_NODE", old);
  for (const [command, found] of cases) {
    process.env.PETSTORE_TEST_NODE = command;
    const { missing } = findRuntime("node");
    assert.equal(
      missing,
      `${command} is not node 22.18 or later, which the tests need (it ${found}): ${hint}`,
    );
  }
});

it(
  "a reason for a skip that is not expected is a failure, and all are told",
  (t) => {
    const lines: string[] = [];
    t.mock.method(console, "log", (line: string) => void lines.push(line));
    set(t, "EXPECTED_SKIPS", "only root\nno browser");
    assert.equal(reportSkips("a_test.ts\tno browser here\n"), true);
    assert.equal(reportSkips("b_test.ts\tcurl is missing\n"), false);
    const text = lines.join("\n");
    assert.match(text, /^Skipped: some tests: no browser here$/m);
    assert.match(
      text,
      /^NOT EXPECTED TO BE SKIPPED: some tests: curl is missing$/m,
    );
  },
);
