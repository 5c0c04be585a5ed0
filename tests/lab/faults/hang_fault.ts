import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "../../contract/ask.ts";
import {
  ON_CLUSTER,
  withCluster,
} from "../../support/postgres/test_cluster.ts";
import { startMain } from "../../support/standalone.ts";
import { REX_JSON } from "../../support/pets.ts";

/** A create is answered after `queryTimeout` at the latest; what the machine may add, in ms. */
const LONGEST = 5000 + 1500;

test(
  "a server that ends while PostgreSQL hangs answers what it has, and ends",
  { ...ON_CLUSTER, timeout: 60_000 },
  withCluster(async (cluster, t) => {
    const env = { DATABASE_URL: await cluster.newDatabase() };
    const server = await startMain(t, { env });
    const list = () => ask(server, "GET", "/v1/pets");
    // Leaves several idle connections.
    await Promise.all(Array.from({ length: 20 }, list));
    await cluster.pause();
    const create = ask(server, "POST", "/v1/pets", { body: REX_JSON });
    const answers = [create, list()];
    await pause(1000); // until both have arrived; a server that hangs does not tell
    const start = performance.now();
    assert.equal(await server.end(), 0);
    const took = performance.now() - start;
    const outcomes = (await Promise.all(answers))
      .map(({ status, headers }) => [status, headers.has("retry-after")]);
    assert.deepEqual(outcomes, [[503, false], [503, true]]);
    assert.ok(took < LONGEST, `${took} ms`);
  }),
);
