import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { LONGEST_CREATE, LONGEST_READ } from "./bounds.ts";
import { Load, pause } from "./load.ts";
import { withServers } from "./servers.ts";
import { openSession, type Session } from "./session.ts";

const { missing } = await findBinaries();
const options = { skip: missing, timeout: 90_000 };

/** As in `postgresStorage`, in ms. */
const LOCK_TIMEOUT = 3000;
/** What a busy machine may add, in ms. */
const SLACK = 1000;

test(
  "a create that waits for a lock too long is refused, and never added",
  options,
  async () => {
    const cluster = await startCluster();
    try {
      const url = await cluster.newDatabase();
      await withServers(1, url, async ([server]) => {
        const load = new Load();
        const holder = await openSession(url);
        await holder.holdCreates();
        const { outcome, took } = await load.create(server);
        assert.equal(outcome, "refused");
        assert.ok(
          took >= LOCK_TIMEOUT && took < LOCK_TIMEOUT + SLACK,
          `${took}`,
        );
        // Others go on reading.
        await load.read(server);
        assert.equal(load.refusedReads, 0);
        await holder.end();
        assert.equal((await load.create(server)).outcome, "acknowledged");
        console.log(
          `A lock held too long: ${await load.account(server)}; ` +
            `refused after ${Math.round(took)} ms`,
        );
      });
    } finally {
      await cluster.close();
    }
  },
);

for (const limit of [1, 2]) {
  test(
    `every request is answered in time where sessions of others block ${limit} connections`,
    options,
    async () => {
      const cluster = await startCluster();
      try {
        const url = await cluster.newDatabase();
        const limited = `${url}?connection_limit=${limit}`;
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
          console.log(
            `${limit} connections, blocked twice: ${await load.account(
              server,
            )}; ` +
              `${load.refusedReads} of ${load.reads.length} reads refused; ` +
              `longest create ${load.longestCreate()} ms, read ${load.longestRead()} ms`,
          );
        });
      } finally {
        await cluster.close();
      }
    },
  );
}

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
        console.log(
          `${others.length} connections used by others: ${await load.account(
            servers[0],
          )}; ${load.refusedReads} of ${load.reads.length} reads refused; ` +
            `longest create ${load.longestCreate()} ms, read ${load.longestRead()} ms`,
        );
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
