import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import type { Cluster } from "../../support/postgres/cluster.ts";
import {
  onCluster,
  startCopy,
  startStandby,
} from "../../support/postgres/test_cluster.ts";
import { commandLine, RUNTIME } from "../../support/runtime.ts";
import { until } from "../../support/time.ts";
import { atEnd } from "../../support/at_end.ts";
import { type Answer, ask } from "../../contract/ask.ts";
import {
  MAIN,
  type RunningServer,
  startMain,
} from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { run } from "../../support/process.ts";
import { REX_JSON } from "../../support/pets.ts";

const PASSWORD = "sesame/@%";

function add(server: RunningServer): Promise<Answer> {
  return ask(server, "POST", "/v1/pets", { body: REX_JSON });
}

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

onCluster({ password: PASSWORD })(
  "a server whose PostgreSQL is gone answers 503, and goes on when it is back",
  async ({ t, cluster }) => {
    const env = { DATABASE_URL: await cluster.newDatabase() };
    const server = await startMain(t, { env });
    assert.equal((await ask(server, "GET", "/readyz")).status, 200);
    await cluster.stop();

    const ready = await ask(server, "GET", "/readyz");
    assert.equal(ready.status, 503);
    assert.equal(ready.headers.get("retry-after"), "1");
    assert.equal((await ask(server, "GET", "/livez")).status, 200);
    const answers = [await ask(server, "GET", "/v1/pets"), await add(server)];
    for (const answer of answers) {
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get("retry-after"), "1");
      assert.equal(JSON.parse(answer.text).code, "service_unavailable");
    }
    // An operator reads what is wrong, not where in the code.
    const lines = () => server.stderr().match(/^\{.*\}$/gm) ?? [];
    await until("each fault has its line", async () => lines().length >= 3);
    const faults = lines().map((line) => JSON.parse(line));
    assert.equal(faults.length, 3);
    for (const { error } of faults) {
      assert.match(
        error,
        /^Cannot .* at 127\.0\.0\.1:[0-9]+: .+ \(unavailable\)$/,
      );
    }

    await cluster.start();
    assert.equal((await ask(server, "GET", "/readyz")).status, 200);
    assert.equal((await add(server)).status, 201);
    assert.equal(await server.end(), 0);
    assert.ok(!server.stderr().includes("sesame"));
  },
);

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

onCluster()(
  "a server on a read replica starts, answers reads, and refuses creates",
  async ({ t, cluster: primary }) => {
    const { pathname } = new URL(await primary.newDatabase());
    const standby = await startStandby(primary);
    atEnd(t, () => standby.close());
    const start = ({ url }: Pick<Cluster, "url">) =>
      startMain(t, { env: { DATABASE_URL: url(pathname.slice(1)) } });
    const writer = await start(primary);
    assert.equal((await add(writer)).status, 201);
    const reader = await start(standby);
    await until("the replica has the pet", async () => {
      const { text } = await ask(reader, "GET", "/v1/pets");
      return text.includes("Rex");
    });
    assert.equal((await add(reader)).status, 503);
    for (const server of [reader, writer]) {
      assert.equal(await server.end(), 0);
    }
  },
);
