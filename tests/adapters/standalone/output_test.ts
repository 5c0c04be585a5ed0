/** Output on Deno; full disks and pipes that nobody reads are in `log_test.ts`, on all runtimes. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { standardOutput } from "../../../adapters/standalone/output.ts";
import { RUNTIME, testUnless } from "../../support/runtime.ts";

const skip = RUNTIME !== "deno" && "other runtimes write by another call";
const onDeno = { test: testUnless(skip) };

/** Writes standard output to a list; this many attempts fail first, with this code. */
function record(t: TestContext, failures = 0, code = "ENOSPC") {
  const written: string[] = [];
  t.mock.method(Deno.stdout, "write", async (bytes: Uint8Array) => {
    if (failures-- > 0) throw Object.assign(new Error("It failed"), { code });
    written.push(new TextDecoder().decode(bytes));
    return bytes.length;
  });
  return written;
}

onDeno.test("what is written within some ms is written at once", async (t) => {
  const written = record(t);
  let gap: number;
  do { // again if the machine was so busy that some ms passed in between
    written.length = 0;
    const start = performance.now();
    standardOutput.write("a");
    await new Promise(setImmediate);
    gap = performance.now() - start;
    standardOutput.write("b");
    await standardOutput.flush();
  } while (gap > 5);
  assert.deepEqual(written, ["ab"]);
});

onDeno.test("a write that fails is tried again every 20 ms, not all the time", async (t) => {
  const written = record(t, 5);
  const start = performance.now();
  standardOutput.write("a");
  assert.equal(await standardOutput.flush(), true);
  const time = performance.now() - start;
  assert.ok(time > 100, `${time}`);
  assert.deepEqual(written, ["a"]);
});

onDeno.test("flush returns false, and drops the text, if the reader has gone", async (t) => {
  const written = record(t, 1, "EPIPE");
  standardOutput.write("a");
  assert.equal(await standardOutput.flush(), false);
  standardOutput.write("b");
  assert.equal(await standardOutput.flush(), true);
  assert.deepEqual(written, ["b"]);
});

onDeno.test("write drops and counts lines beyond 1 MiB, and gives a pipe 4 KiB at a time", async (t) => {
  const written = record(t);
  for (const text of ["x".repeat(2 ** 20), "y", "dropped\n"]) {
    standardOutput.write(text);
  }
  await standardOutput.flush();
  standardOutput.write("z");
  await standardOutput.flush();
  assert.equal(written[0]?.length, 4096);
  const text = written.join("").replace(/"time":"[^"]+",/, "");
  assert.equal(text.slice(2 ** 20 - 1), 'xy{"dropped":1}\nz');
});

onDeno.test("a pipe is given whole lines, because other workers write there too", async (t) => {
  const written = record(t);
  standardOutput.write(`${"x".repeat(99)}\n`.repeat(100));
  await standardOutput.flush();
  const lengths = written.map(({ length }) => length);
  assert.deepEqual(lengths, [4000, 4000, 2000]);
});
