import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { commandLine } from "../../support/runtime.ts";
import {
  RUNTIME,
  startMain,
  startServe,
  testInFolder as it,
} from "./program.ts";

const CALLERS = 16;
/** Long ids make long lines: together more than a pipe holds. */
const id = (index: number): string => `${index}-`.padEnd(128, "x");

for (const how of RUNTIME === "node" ? ["main"] : ["main", "serve"]) {
  it(`after SIGTERM under load, ${how}.ts has logged every request that it answered`, async (cwd) => {
    const env = { DATABASE_URL: "memory:", PETSTORE_API_KEYS: "secret" };
    const server = await (how === "main" ? startMain : startServe)({
      cwd,
      env,
    });
    const answered: string[] = [];
    let sent = 0;

    async function callUntilRefused(): Promise<void> {
      for (let status = 200; status === 200;) {
        const requestId = id(sent++);
        const response = await fetch(`${server.origin}/v1/pets`, {
          headers: {
            "authorization": "Bearer secret",
            "x-request-id": requestId,
          },
        });
        ({ status } = response);
        await response.body?.cancel();
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
  });
}

/** Starts the program that logs 5000 requests, as often as told. */
function startLogging(rounds: number): ChildProcessWithoutNullStreams {
  const program = fileURLToPath(new URL("log_program.ts", import.meta.url));
  const [command = "", ...args] = commandLine(program);
  return spawn(command, [...args, `${rounds}`], { timeout: 30_000 });
}

test("the log loses no line if its reader is slower than the program ends", async () => {
  const child = startLogging(1);
  // Nothing is read before the program has ended, or waits to be read.
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    once(child, "exit"),
    new Promise((resolve) => timer = setTimeout(resolve, 1000)),
  ]);
  clearTimeout(timer);
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) text += chunk;
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const ids = lines.map(({ id }) => id);
  assert.deepEqual(ids, Array.from({ length: 5000 }, (_, id) => String(id)));
  const { time, ...line } = lines[0];
  const logged = { method: "GET", route: null, status: 200, ms: 1, id: "0" };
  assert.deepEqual(line, logged);
  assert.equal(new Date(time).toISOString(), time);
});

const skip = RUNTIME === "deno" && "Deno waits for the reader";
test("a log that nobody reads neither fills the memory nor holds up the end", {
  skip,
}, async () => {
  const child = startLogging(20);
  let waiting = "";
  child.stderr.on("data", (chunk) => waiting += chunk);
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.ok(Number(waiting) < 3_000_000, waiting); // of 8,500,000
});

test("a reader of the log that goes away does not end the server", async () => {
  const child = startLogging(20);
  child.stdout.destroy();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
