/** The life of a server: what is opened is closed, last first, whatever happens. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startProgram } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine } from "../../support/runtime.ts";
import { until } from "../../support/time.ts";

const PROGRAM = pathOf("tests/adapters/standalone/life_program.ts");

/** Runs the program; `signals` are sent once it has written `line`. */
async function run(
  t: TestContext,
  faults: string,
  line = "",
  ...signals: NodeJS.Signals[]
) {
  const command = [...commandLine(PROGRAM), ...faults.split(" ")];
  const program = startProgram(t, command);
  if (line !== "") {
    await until(line, () => program.stdout().split("\n").includes(line));
  }
  for (const signal of signals) program.kill(signal);
  const code = await program.exited;
  return { code, lines: program.stdout().trim().split("\n"), ...program };
}

const OPENED = ["opening storage", "opening listener"];
const CLOSED = ["closing listener", "closing storage"];

test("a signal closes what is open, last first, and the exit code is 0", async (t) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const { code, lines, stderr } = await run(t, "", "open", signal);
    const ending = [`ending by ${signal}`, ...CLOSED];
    assert.deepEqual(lines, [...OPENED, "open", ...ending], signal);
    assert.match(stderr(), RegExp(`^${signal}: finishing .*\n$`), signal);
    assert.equal(code, 0, signal);
  }
});

test("a part that cannot be opened is told, and the others are closed", async (t) => {
  const { code, lines, stderr } = await run(t, "open:listener");
  assert.deepEqual(lines, [...OPENED, "closing storage"]);
  assert.deepEqual([code, stderr()], [1, "no listener\n"]);
});

test("a part that cannot be closed is told, and the others are closed", async (t) => {
  const { code, lines, stderr } = await run(
    t,
    "close:listener",
    "open",
    "SIGTERM",
  );
  assert.deepEqual(lines.slice(-2), CLOSED);
  assert.match(stderr(), /\nlistener stays open\n$/);
  assert.equal(code, 1);
});

test("fail tells what went wrong, closes all in order, and the exit code is 1", async (t) => {
  const { code, lines, stderr } = await run(t, "fail");
  const ending = ["ending by undefined", ...CLOSED];
  assert.deepEqual(lines, [...OPENED, "open", ...ending]);
  assert.deepEqual([code, stderr()], [1, "the log is lost\n"]);
});

test("a signal while a part opens closes that too, and nothing more is opened", async (t) => {
  const faults = "slow:storage";
  const { code, lines } = await run(t, faults, "opening storage", "SIGTERM");
  assert.deepEqual([code, lines], [0, ["opening storage", "closing storage"]]);
});

test("a signal does not wait for a part that never opens", async (t) => {
  const faults = "never:listener";
  const { code, lines } = await run(t, faults, "opening listener", "SIGINT");
  assert.deepEqual([code, lines], [0, [...OPENED, "closing storage"]]);
});

test("a signal that arrives twice at once, as through npx, cuts nothing short", async (t) => {
  const signals = ["SIGINT", "SIGTERM"] as const; // the system merges equal ones
  const { code, lines } = await run(t, "", "open", ...signals);
  assert.deepEqual(lines.slice(-2), CLOSED);
  assert.equal(code, 0);
});
