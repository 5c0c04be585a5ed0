/** docs/course.md is short, and its commands work in every shell. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../support/process.ts";
import { readText, ROOT } from "../support/repository.ts";
import { RUNTIME, testUnless } from "../support/runtime.ts";

test("the course has commands for every shell", () => {
  const page = readText("docs/course.md");
  const blocks = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)];
  assert.ok(blocks.length >= 5);
  for (const [, commands = ""] of blocks) {
    for (const line of commands.trim().split("\n")) {
      // No variables, pipes, single quotes or continued lines: PowerShell and cmd differ.
      assert.match(
        line,
        /^npx -y deno@2\.9\.6 (?:task|test) [^$'|&;<>\\`^%]+$/,
      );
    }
  }
});

const onDeno = {
  test: testUnless(
    RUNTIME !== "deno" && "the grader is a test of Deno",
  ),
};

onDeno.test("the grader of the first exercise finds what is not written", async () => {
  const [, grader = ""] = /^npx -y deno@\S+ (test .*)$/m
    .exec(readText("docs/course.md")) ?? [];
  const { code, stdout } = await run(["deno", ...grader.split(" ")], {
    cwd: ROOT,
  });
  assert.equal(code, 1);
  assert.match(stdout, /Not written yet/);
  assert.match(stdout, /FAILED \| 0 passed \| \d\d failed/);
});
