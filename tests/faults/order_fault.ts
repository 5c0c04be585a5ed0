import assert from "node:assert/strict";
import { createClient } from "../../adapters/client/mod.ts";
import { runSql } from "../support/postgres/sql.ts";
import { testCluster } from "../support/postgres/test_cluster.ts";
import { Load, pause, type Target } from "./load.ts";
import { withServers } from "./servers.ts";

/** On a fast disk hardly two transactions overlap, and then nothing could be missed. */
const SLOW_COMMITS = { commit_delay: "3000", commit_siblings: "0" };

testCluster(
  "a reader that walks the pages again and again misses no animal of four servers",
  async (cluster) => {
    const url = await cluster.newDatabase();
    await withServers(4, url, async (servers) => {
      const load = new Load();
      load.start(servers, { writers: 8 });
      let isOver = false;
      const walks = [1, 2].map(() => follow(servers[0], () => isOver));
      await pause(5000);
      await load.stop();
      isOver = true;
      assert.equal(load.count("acknowledged"), load.creates.length);
      assert.ok(load.creates.length > 1000, "there was load");
      const seen = await Promise.all(walks);
      for (const { id } of await runSql(url, "select id from pets")) {
        const isSeen = seen.every((ids) => ids.has(BigInt(String(id))));
        assert.ok(isSeen, `${id} was missed`);
      }
    });
  },
  { settings: SLOW_COMMITS },
);

/** Walks to the last page, and goes on from there for more; returns all ids that it has seen. */
async function follow(
  { origin, key }: Target,
  isOver: () => boolean,
): Promise<ReadonlySet<bigint>> {
  const client = createClient({ baseUrl: `${origin}/v1`, key });
  const seen = new Set<bigint>();
  let after = 0n;
  for (let isLast = false; !isLast;) {
    isLast = isOver();
    // What has an id below one that was seen is not looked for again.
    for await (const { id } of client.pets({ after })) {
      seen.add(id);
      after = id;
    }
  }
  return seen;
}
