import assert from "node:assert/strict";
import type { Cluster } from "../../support/postgres/cluster.ts";
import {
  missingStandby,
  startStandby,
} from "../../support/postgres/standby.ts";
import { testCluster } from "../../support/postgres/test_cluster.ts";
import { until } from "../../support/postgres/until.ts";
import { skipping } from "../../support/skipping.ts";
import { commandLine } from "../../support/runtime.ts";
import {
  ask,
  inNewFolder,
  MAIN,
  run,
  RUNTIME,
  startMain,
  testInFolder,
} from "./program.ts";

const PASSWORD = "sesame/@%";
const REX = '{"name":"Rex","categoryId":1}';

testInFolder(
  "a Unix socket that Deno may not use ends the program with the reason",
  async (cwd) => {
    const env = { DATABASE_URL: "postgres://ann@/pets?host=/nowhere" };
    const flags = ["--no-prompt", "--allow-net", "--allow-env"]
      .concat("--allow-read=.", "--allow-write=.");
    for (const args of [["keys", "list"], ["start", "--port", "0"]]) {
      const program = run([...commandLine(MAIN, flags), ...args], { cwd, env });
      assert.equal(await program.exited, 1);
      assert.match(program.stderr(), /read access to "\/nowhere/);
    }
  },
  { skip: RUNTIME !== "deno" && "only Deno refuses", timeout: 60_000 },
);

testCluster(
  "a server whose PostgreSQL is gone says so, and goes on when it is back",
  async (cluster) => {
    await inNewFolder(async (cwd) => {
      const env = { DATABASE_URL: await cluster.newDatabase() };
      const server = await startMain({ cwd, env });
      assert.equal((await ask(server, "/readyz")).status, 200);
      await cluster.stop();

      const ready = await ask(server, "/readyz");
      assert.deepEqual([ready.status, ready.headers.get("retry-after")], [
        503,
        "1",
      ]);
      assert.equal((await ask(server, "/livez")).status, 200);
      for (const body of [undefined, REX]) {
        const answer = await ask(server, "/v1/pets", body);
        assert.deepEqual([answer.status, answer.headers.get("retry-after")], [
          503,
          "1",
        ]);
        assert.equal(JSON.parse(answer.text).code, "service_unavailable");
      }
      // An operator reads what is wrong, and not where in the code.
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
      assert.equal((await ask(server, "/readyz")).status, 200);
      assert.equal((await ask(server, "/v1/pets", REX)).status, 201);
      assert.equal(await server.end(), 0);
      assert.ok(!server.stderr().includes("sesame"));
    });
  },
  { password: PASSWORD, timeout: 60_000 },
);

testCluster(
  "a server on a read replica starts, answers reads, and refuses creates",
  async (primary) => {
    const { pathname } = new URL(await primary.newDatabase());
    const standby = await startStandby(primary);
    try {
      await inNewFolder(async (cwd) => {
        const start = ({ url }: Pick<Cluster, "url">) =>
          startMain({ cwd, env: { DATABASE_URL: url(pathname.slice(1)) } });
        const writer = await start(primary);
        assert.equal((await ask(writer, "/v1/pets", REX)).status, 201);
        const reader = await start(standby);
        assert.equal(reader.key, undefined);
        const withKey = { ...reader, key: writer.key };
        await until("the replica has the pet", async () => {
          const { text } = await ask(withKey, "/v1/pets");
          return text.includes("Rex");
        });
        assert.equal((await ask(withKey, "/v1/pets", REX)).status, 503);
        for (const server of [reader, writer]) {
          assert.equal(await server.end(), 0);
        }
      });
    } finally {
      await standby.close();
    }
  },
  { skip: skipping(await missingStandby()) },
);
