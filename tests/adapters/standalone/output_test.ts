/** Output on Deno; full disks and pipes that nobody reads are in `log_test.ts`, on all runtimes. */
import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { standardOutput } from "../../../adapters/standalone/output.ts";
import { RUNTIME } from "../../support/runtime.ts";

const skip = RUNTIME !== "deno" && "other runtimes write by another call";

/** Has standard output written to a list; so many attempts fail before. */
function record(t: TestContext, failures = 0): readonly string[] {
  const written: string[] = [];
  t.mock.method(Deno.stdout, "write", async (bytes: Uint8Array) => {
    if (failures-- > 0) throw new Error("the disk is full");
    written.push(new TextDecoder().decode(bytes));
    return bytes.length;
  });
  return written;
}

test(
  "what is written within some ms is written at once",
  { skip },
  async (t) => {
    const written = record(t);
    standardOutput.write("a");
    await new Promise(setImmediate);
    await standardOutput.write("b");
    assert.deepEqual(written, ["ab"]);
  },
);

test("a write that fails is tried again every 20 ms, not all the time", {
  skip,
}, async (t) => {
  const written = record(t, 5);
  const start = performance.now();
  await standardOutput.write("a");
  const time = performance.now() - start;
  assert.ok(time > 100, `${time}`);
  assert.deepEqual(written, ["a"]);
});
