import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { runSql } from "../support/postgres/sql.ts";
import { Load, pause } from "./load.ts";
import { withServers } from "./servers.ts";
import { startWalk } from "./walker.ts";
import { skipping } from "../support/skipping.ts";

const missing = skipping((await findBinaries()).missing);
const options = { skip: missing, timeout: 120_000 };

/** On a fast disk hardly two transactions overlap, and then nothing could be missed. */
const SLOW_COMMITS = { commit_delay: "3000", commit_siblings: "0" };

test(
  "a reader that walks the pages again and again misses no animal of four servers",
  options,
  async () => {
    const cluster = await startCluster({ settings: SLOW_COMMITS });
    try {
      const url = await cluster.newDatabase();
      await withServers(4, url, async (servers) => {
        const walkers = [startWalk(servers[0]), startWalk(servers[0])];
        const load = new Load();
        for (const server of servers) load.start(server, { writers: 8 });
        await pause(5000);
        await load.stop();
        assert.equal(load.count("acknowledged"), load.creates.length);
        assert.ok(load.creates.length > 1000, "there was load");
        const seen = await Promise.all(
          walkers.map((walker) => walker.finish()),
        );
        for (const { id } of await runSql(url, "select id from pets")) {
          const isSeen = seen.every((walk) => walk.has(BigInt(String(id))));
          assert.ok(isSeen, `${id} was missed`);
        }
      });
    } finally {
      await cluster.close();
    }
  },
);
