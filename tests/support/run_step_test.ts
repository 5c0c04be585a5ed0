/** The test runner: what it says about tests that pass, fail, hang or are skipped. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { readText } from "./repository.ts";
import { passes, reportSkips, TEST } from "./run_step.ts";
import { findRuntimes, RUNTIME, type Runtime, testUnless } from "./runtime.ts";
import { temporaryDirectory } from "./temporary_directory.ts";

const directory = temporaryDirectory();
const skip = RUNTIME !== "deno" && "the tests are run by Deno";
const onDeno = { test: testUnless(skip) };

const PASSES = `test("it passes", () => {});\n`;

/** A rule, a file of tests, whether that passes, and what is printed for it. */
const CASES: readonly (readonly [string, string, boolean, RegExp])[] = [
  [
    "tests that ran and that were skipped are counted, and no more is printed",
    `${PASSES}test.skip("it is skipped", () => {});`,
    true,
    /^\w+: passed \(1 test, 1 skipped, \d+ s\)$/,
  ],
  [
    "a failing test is named, whatever its title",
    `${PASSES}test('no\\n<a> & no "b"', () => { throw new Error("\\u001b[31m<&"); });`,
    false,
    /^FAILED: no\\n<a> & no "b"\n\w+: FAILED \(2 tests, \d+ s\)$/m,
  ],
  [
    "a file that throws after a test fails",
    `${PASSES}throw new Error("top");`,
    false,
    /rror: top$/m,
  ],
];

let count = 0;

/** Runs a file of tests on a runtime; returns whether it passes, and what is printed. */
async function run(
  t: TestContext,
  name: Runtime["name"],
  source: string,
  minutes = 5,
): Promise<{ readonly isWell: boolean; readonly text: string }> {
  const file = join(directory, `${name}_${++count}_test.ts`);
  writeFileSync(file, `import test from "node:test";\n${source}`);
  const lines: string[] = [];
  const { mock } = t.mock.method(
    console,
    "log",
    (line: string) => void lines.push(line),
  );
  const isWell = await passes([...TEST[name], file], minutes);
  mock.restore();
  return { isWell, text: lines.join("\n") };
}

for (const { name, missing } of findRuntimes()) {
  const onRuntime = { test: testUnless(skip || missing || false) };
  for (const [rule, source, isWell, printed] of CASES) {
    onRuntime.test(`${name}: ${rule}`, async (t) => {
      const ran = await run(t, name, source);
      assert.match(ran.text, printed);
      assert.equal(ran.isWell, isWell);
    });
  }

  onRuntime.test(`${name}: a process that is killed fails, and is told from its last lines`, async (t) => {
    // On a busy machine the line of the test before may not be written yet.
    for (const ms of [0, 1000, 10_000, 60_000]) {
      const { isWell, text } = await run(
        t,
        name,
        `${PASSES}const kill = () => process.kill(process.pid, "SIGKILL");
          test("b", () => new Promise(() => setTimeout(kill, ${ms})));`,
      );
      assert.equal(isWell, false, `${ms}`);
      const told = /^FAILED: .*_test\.ts$|^No report is complete[^]*it passes/m;
      if (told.test(text)) return;
    }
    assert.fail("nothing tells which process it was");
  });

  onRuntime.test(`${name}: a test that hangs is ended, and it or the one before is named`, async (t) => {
    const source =
      `${PASSES}test("it waits", () => new Promise(() => setInterval(() => {}, 9)));`;
    // On a busy machine the test may not have begun when the first patience ends.
    for (const minutes of [0.02, 0.1, 0.5, 2.5]) {
      const { isWell, text } = await run(t, name, source, minutes);
      assert.equal(isWell, false, `${minutes}`);
      assert.match(
        text,
        /^HANGS: no test has ended for \d\.\d+ minutes/m,
        `${minutes}`,
      );
      if (/it (?:passes|waits)/.test(text)) return;
    }
    assert.fail("neither is named");
  });
}

onDeno.test("a step that runs no test is a failure", async (t) => {
  const { isWell, text } = await run(t, "deno", "");
  assert.match(text, /^deno: FAILED: no test was run \(0 tests, \d+ s\)$/m);
  assert.equal(isWell, false);
});

onDeno.test("a reason for a skip that is not expected is a failure, and all are told", (t) => {
  const lines: string[] = [];
  t.mock.method(console, "log", (line: string) => void lines.push(line));
  const expected = "only root\nno browser";
  assert.equal(reportSkips("no browser here\n", expected), true);
  const more = "no browser here\ncurl is missing\n";
  assert.equal(reportSkips(more, expected), false);
  const text = lines.join("\n");
  assert.match(text, /^Skipped: no browser here$/m);
  assert.match(text, /^NOT EXPECTED TO BE SKIPPED: curl is missing$/m);
});

test("CONTRIBUTING.md gives Bun as much time for a test as the task does", () => {
  const command = `\n${TEST.bun.join(" ")} tests/\n`;
  assert.ok(readText("CONTRIBUTING.md").includes(command), command);
});
