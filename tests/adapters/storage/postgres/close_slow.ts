import assert from "node:assert/strict";
import { onCluster } from "../../../support/postgres/test_cluster.ts";
import { startProgram } from "../../../support/process.ts";
import { pathOf } from "../../../support/repository.ts";
import { commandLine } from "../../../support/runtime.ts";

const withCluster = { test: onCluster() };
const program = pathOf("tests/adapters/storage/postgres/close_program.ts");

withCluster.test("a program ends after close() of postgresStorage, even if the server hangs", async ({ t, cluster }) => {
  const command = [...commandLine(program), await cluster.newDatabase()];
  const child = startProgram(t, command, { isInteractive: true });
  assert.equal(await child.nextLine(), "ready", child.stderr());
  await cluster.pause();
  const timer = setTimeout(child.kill, 30_000, "SIGKILL");
  child.send("go on");
  assert.equal(await child.exited, 0);
  clearTimeout(timer);
});
