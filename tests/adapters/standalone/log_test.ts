import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { pathOf } from "../../support/repository.ts";
import { commandLine, RUNTIME, testUnless } from "../../support/runtime.ts";
import { until } from "../../support/time.ts";
import { ask } from "../../contract/ask.ts";
import {
  mainCommand,
  startMain,
  startServe,
} from "../../support/standalone.ts";
import { freePort, type Program, startProgram } from "../../support/process.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const CALLERS = 16;
/** Long ids make long lines: together more than a pipe holds. */
const id = (index: number): string => `${index}-`.padEnd(128, "x");

for (const how of RUNTIME === "deno" ? ["main", "serve"] : ["main"]) {
  test(`${how}.ts has logged every request that it answered under load, when it ends`, async (t) => {
    const start = how === "main" ? startMain : startServe;
    const server = await start(t, { env: { DATABASE_URL: "memory:" } });
    const answered: string[] = [];
    let sent = 0;

    async function callUntilRefused(): Promise<void> {
      for (let status = 200; status === 200;) {
        const requestId = id(sent++);
        const question = { headers: { "x-request-id": requestId } };
        ({ status } = await ask(server, "GET", "/v1/pets", question));
        answered.push(requestId);
        if (answered.length === 1000) server.kill("SIGTERM");
      }
    }

    await Promise.allSettled(Array.from({ length: CALLERS }, callUntilRefused));
    assert.equal(await server.exited, 0);
    assert.ok(answered.length >= 1000);
    // Bun writes a line of its own there.
    const lines = server.stdout().match(/^\{.*\}$/gm) ?? [];
    const logged = new Set(lines.map((line) => JSON.parse(line).id));
    assert.deepEqual(answered.filter((one) => !logged.has(one)), []);
    assert.doesNotMatch(server.stderr(), /^\{.*"error":/m);
  });
}

const LOGGING = commandLine(pathOf("tests/adapters/standalone/log_program.ts"));

/** Starts the program that logs 100,000 requests, by a command that receives its words. */
function startLogging(t: TestContext, ...starter: readonly string[]): Program {
  return startProgram(t, [...starter, ...LOGGING], { isInteractive: true });
}

const NO_PIPES = process.platform === "win32" && "Windows has no named pipes";
const withPipes = { test: testUnless(NO_PIPES) };

withPipes.test("a reader of the log that goes away does not end the server", async (t) => {
  const script = '{ "$0" "$@"; echo "exited with $?" >&2; } | true';
  const program = startLogging(t, "sh", "-c", script);
  await program.endInput();
  assert.match(program.stderr(), /^exited with 0$/m);
});

/** Runs the words after the pipe, with standard output in it. */
const WRITERS = {
  blocking: 'exec >"$0"; exec "$@"',
  // dd sets the flag, and leaves it set.
  "non-blocking":
    'exec >"$0"; dd oflag=nonblock </dev/null 2>/dev/null; exec "$@"',
};

/** A pipe, and a function that reads all that is written until the last writer ends. */
function createPipe(t: TestContext, folder: string) {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  const script = 'exec 3<"$0"; read go; exec cat <&3';
  const command = ["sh", "-c", script, path];
  const reader = startProgram(t, command, { isInteractive: true });
  async function read(): Promise<string> {
    reader.send("go");
    await reader.endInput();
    return reader.stdout();
  }
  return { path, read };
}

for (const [kind, script] of Object.entries(WRITERS)) {
  withPipes.test(`a ${kind} pipe that nobody reads holds nothing up, and later has lines again`, async (t) => {
    const pipe = createPipe(t, newFolder(t));
    const program = startLogging(t, "sh", "-c", script, pipe.path);
    await until("all are logged", () => program.stderr() !== "");
    const reading = pipe.read();
    // Not until the end: what waits is written before it.
    assert.equal(await program.endInput(), 0);
    const text = (await reading).trimEnd();
    const lines = text.split("\n").map((line) => JSON.parse(line));
    const { dropped } = lines.pop(); // the first are all there
    const ids = Array.from(lines, (_, index) => String(index));
    assert.deepEqual(lines.map(({ id }) => id), ids);
    assert.equal(lines.length + dropped, 100_000);
  });
}

const SINKS = {
  "a full disk": '>/dev/full 2>&1; exec "$@"',
  "a pipe that nobody reads": '>"$0" 2>&1; exec "$@"',
};
for (const [sink, script] of Object.entries(SINKS)) {
  const onLinux = {
    test: testUnless(
      process.platform !== "linux" && "/dev/full is Linux's",
    ),
  };
  onLinux.test(`a server whose outputs are ${sink} serves and ends as any other`, async (t) => {
    const cwd = newFolder(t);
    const pipe = sink === "a full disk" ? undefined : createPipe(t, cwd);
    const port = String(await freePort());
    const shell = ["sh", "-c", `exec ${script}`, pipe?.path ?? ""];
    const main = mainCommand(["start", "--port", port]);
    const server = startProgram(t, [...shell, ...main], { cwd });
    const base = `http://127.0.0.1:${port}`;
    const service = { fetch, base, key: "none" };
    const statusOf = async (requestId: string) => {
      const headers = { "x-request-id": requestId };
      return (await ask(service, "GET", "/v1/pets", { headers })).status;
    };
    const isAnswered = () => statusOf("1").then(() => true, () => false);
    await until("it listens", isAnswered);
    for (let count = 0; count < 10; count++) {
      const ids = Array.from({ length: 50 }, (_, index) => id(index));
      const statuses = await Promise.all(ids.map(statusOf));
      assert.deepEqual(new Set(statuses), new Set([401]));
    }
    assert.equal(await server.end(), 0);
    await pipe?.read();
  });
}
