import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startCluster } from "../../support/postgres/cluster.ts";
import { NO_CLUSTER } from "../../support/postgres/test_cluster.ts";
import { startMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { REX_JSON } from "../../support/pets.ts";

/** A create is answered after `queryTimeout` at the latest; what the machine may add, in ms. */
const LONGEST = 5000 + 1500;

test(
  "a server that is told to end while PostgreSQL hangs answers what it has, and ends",
  { skip: NO_CLUSTER, timeout: 60_000 },
  async (t) => {
    const cwd = newFolder(t);
    const cluster = await startCluster();
    const env = {
      DATABASE_URL: await cluster.newDatabase(),
      PETSTORE_API_KEYS: "secret",
    };
    const server = await startMain({ cwd, env });
    const ask = (body?: string) =>
      fetch(`${server.origin}/v1/pets`, {
        ...body !== undefined && { method: "POST", body },
        headers: {
          authorization: "Bearer secret",
          "content-type": "application/json",
        },
      }).then(({ status, headers }) => [status, headers.has("retry-after")]);
    try {
      // Leaves several idle connections.
      await Promise.all(Array.from({ length: 20 }, () => ask()));
      await cluster.pause();
      const answers = [ask(REX_JSON), ask()];
      await pause(1000); // until both have arrived; a server that hangs does not tell
      const start = performance.now();
      assert.equal(await server.end(), 0);
      const took = performance.now() - start;
      assert.deepEqual(await Promise.all(answers), [[503, false], [503, true]]);
      assert.ok(took < LONGEST, `${took} ms`);
    } finally {
      cluster.resume();
      server.kill("SIGKILL");
      await cluster.close();
    }
  },
);
