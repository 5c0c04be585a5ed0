import assert from "node:assert/strict";
import { testCluster as it } from "../support/postgres/test_cluster.ts";
import { Load, LONGEST_CREATE, pause } from "./load.ts";
import { fetchOnItsOwn } from "./own_connection.ts";
import { untilReady, withServers } from "./servers.ts";

/** Longer than any answer is waited for, in ms. */
const HANG = 10_000;
/** How long a probe may take while it hangs, in ms: until there is no connection. */
const LONGEST_PROBE = 3000;

it(
  "every request is answered in time while PostgreSQL hangs, and all is well afterwards",
  async (cluster) => {
    await withServers(2, await cluster.newDatabase(), async (servers) => {
      const load = new Load();
      load.start(servers, { writers: 8, readers: 8 });
      await load.more(200);
      await cluster.pause();
      await pause(HANG - LONGEST_PROBE);
      const probes = servers.map((server) => server.readiness());
      assert.deepEqual(await Promise.all(probes), [503, 503]);
      cluster.resume();
      await load.more(200);
      await load.stop();
      await untilReady(servers);
      assert.ok(load.count("uncertain") > 0);
      load.assertInTime();
      await load.verify(servers[0]);
    });
  },
);

it(
  "1500 creates that wait behind a PostgreSQL that hangs are all answered in time",
  async (cluster) => {
    await withServers(1, await cluster.newDatabase(), async ([server]) => {
      const target = { ...server, fetch: fetchOnItsOwn };
      const load = new Load();
      // Leaves several idle connections.
      await Promise.all(many(20, () => load.read(target)));
      await load.create(target);

      await cluster.pause();
      const first = load.create(target);
      await pause(100);
      const requests = [
        first,
        ...many(1500, () => load.create(target)),
        ...many(100, () => load.read(target)),
      ];
      // The server itself lives.
      const live = await fetch(`${server.origin}/livez`);
      assert.equal(live.status, 200);
      await live.body?.cancel();
      await Promise.all(requests);
      assert.equal(load.count("acknowledged"), 1);
      assert.equal(load.refusedReads, 100);

      cluster.resume();
      await untilReady([server]);
      assert.equal((await load.create(target)).outcome, "acknowledged");
      load.assertInTime();
      await load.verify(target);
    });
  },
);

it(
  "a server that is told to end while PostgreSQL hangs answers what it has, and ends",
  async (cluster) => {
    await withServers(1, await cluster.newDatabase(), async ([server]) => {
      const load = new Load();
      // Leaves several idle connections.
      await Promise.all(many(20, () => load.read(server)));
      await cluster.pause();
      const requests = [load.create(server), load.read(server)];
      await pause(200);
      const start = performance.now();
      assert.equal(await server.end(), 0);
      const took = performance.now() - start;
      await Promise.all(requests);
      assert.equal(load.count("uncertain"), 1);
      assert.equal(load.refusedReads, 1);
      assert.ok(took < LONGEST_CREATE, `${took}`);
      cluster.resume();
    });
  },
);

function many(count: number, work: () => Promise<unknown>): Promise<unknown>[] {
  return Array.from({ length: count }, work);
}
