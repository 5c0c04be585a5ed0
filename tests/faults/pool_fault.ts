import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { LONGEST_CREATE, LONGEST_READ } from "./bounds.ts";
import { Load, pause } from "./load.ts";
import { withServers } from "./servers.ts";
import { openSession, type Session } from "./session.ts";
import { skipping } from "../support/skipping.ts";

const missing = skipping((await findBinaries()).missing);
const options = { skip: missing, timeout: 90_000 };

/** As in `postgresStorage`, in ms. */
const LOCK_TIMEOUT = 3000;
test(
  `every request is answered in time where sessions of others block 2 connections`,
  options,
  async () => {
    const cluster = await startCluster();
    try {
      const url = await cluster.newDatabase();
      const limited = `${url}?connection_limit=2`;
      await withServers(1, limited, async ([server]) => {
        const load = new Load();
        const holder = await openSession(url);
        load.start(server, { writers: 4, readers: 4 });
        await load.more(50);

        // Creates wait, and have a connection while they do.
        await holder.holdCreates();
        await pause(2 * LOCK_TIMEOUT);
        await holder.letCreatesGo();
        await load.more(50);

        // All wait.
        await holder.query("begin");
        await holder.query("lock table pets in access exclusive mode");
        await pause(2 * LOCK_TIMEOUT);
        assert.equal(await server.readiness(), 503);
        await holder.query("rollback");
        await load.more(50);

        await load.stop();
        await holder.end();
        assert.equal(await server.readiness(), 200);
        assert.equal(load.count("uncertain"), 0);
        assert.ok(load.longestRead() < LONGEST_READ);
        assert.ok(load.longestCreate() < LONGEST_CREATE);
        await load.verify(server);
      });
    } finally {
      await cluster.close();
    }
  },
);

test(
  "every request is refused in time where others use all connections of PostgreSQL",
  options,
  async () => {
    const cluster = await startCluster({ settings: { max_connections: "12" } });
    try {
      const url = await cluster.newDatabase();
      await withServers(2, url, async (servers) => {
        const load = new Load();
        const others = await useUpConnections(url);
        // The servers lost their connections at that.
        for (const server of servers) {
          assert.equal(await server.readiness(), 503);
          load.start(server, { writers: 4, readers: 4 });
        }
        await pause(2000);
        assert.equal(load.count("acknowledged"), 0);
        assert.ok(load.count("refused") > 0);
        assert.ok(load.refusedReads > 0);

        await Promise.all(others.map((session) => session.end()));
        await load.more(100);
        await load.stop();
        for (const server of servers) {
          assert.equal(await server.readiness(), 200);
        }
        assert.equal(load.count("uncertain"), 0);
        assert.ok(load.longestRead() < LONGEST_READ);
        assert.ok(load.longestCreate() < LONGEST_CREATE);
        await load.verify(servers[0]);
      });
    } finally {
      await cluster.close();
    }
  },
);

/** Takes all connections there are, those of the servers too. */
async function useUpConnections(url: string): Promise<readonly Session[]> {
  const sessions: Session[] = [];
  const TOO_MANY = "53300";
  for (;;) {
    try {
      sessions.push(await openSession(url));
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, TOO_MANY);
      const ended = await sessions[0]?.count(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'petstore'`,
      );
      if (ended === 0) return sessions;
      // It takes a moment until they are gone.
      await pause(100);
    }
  }
}
