/** The adapters of docs/exam.md, in three languages, get a verdict: the one that the page shows. */
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { ExamReport } from "../exam/mod.ts";
import { run, runWell } from "../support/process.ts";
import { pathOf, readText } from "../support/repository.ts";
import { commandLine, missing, testUnless } from "../support/runtime.ts";
import { newFolder } from "../support/temporary_directory.ts";

const ADAPTER = "docs/examples/exam/adapter";

/** Runs the exam, and returns the harms that it finds. Most adapters do not support `walk`. */
async function harmsOf(
  command: readonly string[],
  skips: readonly string[] = ["walk"],
): Promise<readonly string[]> {
  const exam = commandLine(pathOf("tests/exam/main.ts"));
  const { code, stdout, stderr } = await run(
    [...exam, "--json", "--", ...command],
    { timeout: 600_000 },
  );
  assert.ok(code === 0 || code === 1, stderr);
  const { trials, skipped }: ExamReport = JSON.parse(stdout);
  assert.equal(
    skipped,
    trials.filter(({ call }) => skips.includes(call)).length,
  );
  const harms = trials.filter(({ verdict }) => verdict === "harm")
    .flatMap(({ findings }) => findings);
  assert.equal(code, harms.length > 0 ? 1 : 0);
  return [...new Set(harms)];
}

testUnless(missing("python3"))(
  "exam finds in adapter.py what docs/exam.md shows",
  async () => {
    assert.deepEqual(await harmsOf(["python3", pathOf(`${ADAPTER}.py`)]), [
      "leaks_key",
    ]);
    const text = readText("docs/exam.md");
    const [shown = "", harm] = /^harm: (.*):.*$/m.exec(text) ?? [];
    assert.deepEqual([harm, text.match(/^harm: /gm)?.length], ["leaks_key", 1]);
    assert.ok(shown.endsWith("a list is redirected to another host with 302"));
  },
);

test("exam finds in adapter.ts that JSON.parse rounds", async () => {
  const adapter = commandLine(pathOf(`${ADAPTER}.ts`));
  assert.deepEqual(await harmsOf(adapter), ["loses_digits"]);
});

test("exam finds no harm in the service's own client", async () => {
  const program = pathOf("docs/examples/clients/exam/petstore_client.ts");
  const config = ["-A", "--config", pathOf("tests/deno.json")];
  assert.deepEqual(await harmsOf(commandLine(program, config), []), []);
});

testUnless(missing("go", "its archive is on go.dev"))(
  "exam finds no harm in adapter.go",
  async (t) => {
    const folder = newFolder(t);
    const source = join(folder, "adapter.go");
    copyFileSync(pathOf(`${ADAPTER}.go`), source);
    const adapter = join(folder, "adapter");
    await runWell(["go", "build", "-o", adapter, source]);
    assert.deepEqual(await harmsOf([adapter]), []);
  },
);
