/** Arguments of the program, right and wrong. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { runToEnd, testInFolder as it } from "./program.ts";

for (
  const [args, message] of [
    ["start foo", /^start takes options only, not foo\n/],
    ["start --nonsense", /--nonsense/],
    ["copy sqlite:a.db", /^copy takes two addresses: copy FROM TO\n/],
    ["copy sqlite:a.db sqlite:b.db c", /^copy takes two addresses/],
    ["nonsense", /^There is no command "nonsense"\nSee --help\n/],
  ] as const
) {
  it(`${args} is wrong usage, and leaves no file behind`, async (cwd) => {
    const { code, stdout, stderr } = await runToEnd(args.split(" "), { cwd });
    assert.match(stderr, message);
    assert.deepEqual([code, stdout, readdirSync(cwd)], [2, "", []]);
  });
}

it("copy without arguments says how it is used", async (cwd) => {
  const { stdout, stderr } = await runToEnd(["copy"], { cwd });
  assert.match(stdout + stderr, /copy FROM TO/);
  assert.deepEqual(readdirSync(cwd), []);
});
