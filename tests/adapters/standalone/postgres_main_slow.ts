import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { onCluster, startCopy } from "../../support/postgres/test_cluster.ts";
import { commandLine, RUNTIME } from "../../support/runtime.ts";
import { until } from "../../support/time.ts";
import { atEnd } from "../../support/at_end.ts";
import { ask } from "../../contract/ask.ts";
import { MAIN, startMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { run } from "../../support/process.ts";

test("a Unix socket that Deno may not use ends the program with the reason", {
  skip: RUNTIME !== "deno" && "only Deno refuses",
  timeout: 60_000,
}, async (t) => {
  const cwd = newFolder(t);
  const env = { DATABASE_URL: "postgres://ann@/pets?host=/nowhere" };
  const flags = ["--no-prompt", "--allow-net", "--allow-env"]
    .concat("--allow-read=.", "--allow-write=.");
  for (const args of [["keys", "list"], ["start", "--port", "0"]]) {
    const command = [...commandLine(MAIN, flags), ...args];
    const { code, stderr } = await run(command, { cwd, env });
    assert.equal(code, 1);
    assert.match(stderr, /read access to "\/nowhere/);
  }
});

onCluster()(
  "a server writes a line when another PostgreSQL host is used from now on",
  async ({ t, cluster: old }) => {
    const database = await old.newDatabase();
    const { pathname } = new URL(database);
    await (await postgresStorage(database)).close();
    const standby = await startCopy(old);
    atEnd(t, () => standby.close());
    const hosts = [old, standby].map(({ port }) => `127.0.0.1:${port}`);
    const url = `postgres://postgres@${hosts}${pathname}`;
    const server = await startMain(t, { env: { DATABASE_URL: url } });
    await standby.promote();
    const [, promoted] = hosts;
    await until("the server has moved", async () => {
      await ask(server, "GET", "/readyz");
      return server.stderr().includes("moved to");
    });
    const [line = ""] = server.stderr().match(/^\{.*moved.*\}$/gm) ?? [];
    const { time, ...message } = JSON.parse(line);
    assert.ok(Math.abs(Date.now() - Date.parse(time)) < 60_000, time);
    assert.deepEqual(message, { message: `moved to ${promoted}, timeline 2` });
    assert.equal(await server.end(), 0);
  },
);
