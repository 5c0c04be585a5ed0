import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import {
  missingStandby,
  type Standby,
  startStandby,
} from "../support/postgres/standby.ts";
import { until } from "../support/postgres/until.ts";
import { LONGEST_CREATE } from "./bounds.ts";
import { Load } from "./load.ts";
import { type Servers, withServers } from "./servers.ts";
import { skipping } from "../support/skipping.ts";

const options = { skip: skipping(await missingStandby()), timeout: 90_000 };

test(
  "without its synchronous standby PostgreSQL acknowledges nothing, and the servers go on when it is back",
  options,
  async () => {
    await withStandby(async ({ standby, servers, load }) => {
      await standby.stop();
      for (const server of servers) {
        load.start(server, { writers: 4, readers: 2 });
      }
      await until(
        "a create is uncertain, and others are refused",
        () => load.count("uncertain") > 0 && load.count("refused") > 0,
      );
      assert.equal(load.count("acknowledged"), servers.length);
      for (const server of servers) {
        assert.equal(await server.readiness(), 200);
      }
      await standby.start();
      await load.more(200);
      await load.stop();
      await load.verify(servers[0]);
      assert.equal(load.refusedReads, 0);
      assert.ok(load.longestRead() < 1000, `${load.longestRead()}`);
      assert.ok(
        load.longestCreate() < LONGEST_CREATE,
        `${load.longestCreate()}`,
      );
    });
  },
);

interface Surroundings {
  readonly primary: Cluster;
  readonly standby: Standby;
  readonly servers: Servers;
  /** One animal is added at each server. */
  readonly load: Load;
}

/** Two servers on a primary that waits for its standby. */
async function withStandby(
  work: (surroundings: Surroundings) => Promise<void>,
): Promise<void> {
  const primary = await startCluster();
  try {
    const standby = await startStandby(primary);
    try {
      const url = await primary.newDatabase();
      await withServers(2, url, async (servers) => {
        const load = new Load();
        // The tables are made, and connections open.
        for (const server of servers) {
          assert.equal((await load.create(server)).outcome, "acknowledged");
        }
        await work({ primary, standby, servers, load });
      });
    } finally {
      await standby.close();
    }
  } finally {
    await primary.close();
  }
}
