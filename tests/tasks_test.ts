/** The commands that a newcomer types in a clone. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { ROOT } from "./support/repository.ts";
import { RUNTIME, testUnless } from "./support/runtime.ts";

const onDeno = {
  test: testUnless(RUNTIME !== "deno" && "only Deno has tasks"),
};

function deno(...args: readonly string[]) {
  const env = { ...process.env, NO_COLOR: "1" };
  const options = { cwd: ROOT, env, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("deno", args, options);
  return { status, output: `${stdout}${stderr}` };
}

onDeno.test("deno test without the task fails, and names the task", () => {
  const { status, output } = deno("test");
  assert.equal(status, 1);
  assert.match(output, /^Run the tests with: deno task test$/m);
  assert.doesNotMatch(output, /TS\d+|passed \|[^|]*0 failed/);
});
