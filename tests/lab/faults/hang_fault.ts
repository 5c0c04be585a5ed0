import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../contract/ask.ts";
import {
  ON_CLUSTER,
  withCluster,
} from "../../support/postgres/test_cluster.ts";
import { startMain } from "../../support/standalone.ts";
import { awaitedLater, until } from "../../support/time.ts";
import { REX_JSON } from "../../support/pets.ts";

test(
  "a server that ends while PostgreSQL hangs answers what it has, and ends",
  { ...ON_CLUSTER, timeout: 60_000 },
  withCluster(async (cluster, t) => {
    const env = {
      DATABASE_URL: await cluster.newDatabase(),
      METRICS: "on",
      SHUTDOWN_TIMEOUT: "60",
    };
    const server = await startMain(t, { env });
    const list = () => ask(server, "GET", "/v1/pets");
    // Leaves an idle connection, at least.
    await Promise.all(Array.from({ length: 20 }, list));
    await cluster.pause();
    const arrived = (queue: "creates" | "reads") =>
      until(`one of the ${queue} has arrived`, async () => {
        const { text } = await ask(server, "GET", "/metrics");
        return text.includes(`${queue}_waiting 1\n`);
      });
    // The create first: without an idle connection it would not be sent, and may be sent again.
    const create = awaitedLater(
      ask(server, "POST", "/v1/pets", { body: REX_JSON }),
    );
    await arrived("creates");
    const answers = awaitedLater(Promise.all([create, list()]));
    await arrived("reads");
    const start = performance.now();
    assert.equal(await server.end(), 0);
    const took = performance.now() - start;
    const outcomes = (await answers)
      .map(({ status, headers }) => [status, headers.has("retry-after")]);
    assert.deepEqual(outcomes, [[503, false], [503, true]]);
    // After `queryTimeout`, which is 5 s, and not after what requests may take at most.
    assert.ok(took < 30_000, `${took} ms`);
  }),
);
