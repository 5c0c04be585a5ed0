import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { testCluster as it } from "../../support/postgres/test_cluster.ts";
import { commandLine } from "../../support/runtime.ts";

const program = fileURLToPath(new URL("close_program.ts", import.meta.url));

it("a program ends after close() of postgresStorage, even if the server hangs", async (cluster) => {
  const [command = "", ...args] = commandLine(program);
  const child = spawn(command, [...args, await cluster.newDatabase()], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    await cluster.pause();
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    child.stdin.end("go on\n");
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    assert.equal(code, 0);
  } finally {
    child.kill("SIGKILL");
  }
});
