import assert from "node:assert/strict";
import { missingStandby, startStandby } from "../support/postgres/standby.ts";
import { testCluster } from "../support/postgres/test_cluster.ts";
import { until } from "../support/postgres/until.ts";
import { skipping } from "../support/skipping.ts";
import { Load } from "./load.ts";
import { withServers } from "./servers.ts";

testCluster(
  "without its synchronous standby PostgreSQL acknowledges nothing, and the servers go on when it is back",
  async (primary) => {
    const standby = await startStandby(primary);
    try {
      await withServers(2, await primary.newDatabase(), async (servers) => {
        const load = new Load();
        // The tables are made, and connections open.
        for (const server of servers) {
          assert.equal((await load.create(server)).outcome, "acknowledged");
        }
        await standby.stop();
        load.start(servers, { writers: 4, readers: 2 });
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
        load.assertInTime(1000);
      });
    } finally {
      await standby.close();
    }
  },
  { skip: skipping(await missingStandby()) },
);
