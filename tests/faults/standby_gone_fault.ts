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

const options = { skip: await missingStandby(), timeout: 90_000 };

/** How long a server waits for the answer of the database, in ms. */
const QUERY_TIMEOUT = 5000;

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
      const start = performance.now();
      await standby.start();
      await load.more(200);
      const recovery = performance.now() - start;
      await load.stop();
      console.log(
        `synchronous standby gone: ${await load.account(
          servers[0],
        )}; longest create ${load.longestCreate()} ms, of ${load.reads.length} reads ${load.longestRead()} ms; 200 acknowledged ${
          Math.round(recovery)
        } ms after its return`,
      );
      assert.equal(load.refusedReads, 0);
      assert.ok(load.longestRead() < 1000, `${load.longestRead()}`);
      assert.ok(
        load.longestCreate() < LONGEST_CREATE,
        `${load.longestCreate()}`,
      );
    });
  },
);

for (const act of ["pg_cancel_backend", "pg_terminate_backend"]) {
  test(
    `${act} on a create that waits for the standby leaves it uncertain`,
    options,
    async () => {
      await withStandby(async ({ primary, standby, servers, load }) => {
        await standby.stop();
        const creating = load.create(servers[0]);
        const pid = await waitingBackend(primary);
        await primary.query(`select ${act}($1)`, { values: [pid] });
        const { outcome, took } = await creating;
        // PostgreSQL has committed it on one machine, and warned of that.
        assert.equal(await load.verify(servers[0]), 1);
        console.log(
          `${act} amid the wait: answered ${outcome} after ${
            Math.round(took)
          } ms, and the animal is there`,
        );
        assert.equal(outcome, "uncertain");
        assert.ok(took < QUERY_TIMEOUT, "it was not the time that told");
        await standby.start();
        await until(
          "creates are acknowledged again",
          async () =>
            (await load.create(servers[0])).outcome === "acknowledged",
        );
      });
    },
  );
}

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
    const standby = await startStandby(primary, { synchronous: true });
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

/** The backend of a create that is written, and waits for the standby. */
async function waitingBackend({ query }: Cluster): Promise<number> {
  let pid: unknown;
  await until("a create waits for the standby", async () => {
    const [row] = await query(
      "select pid from pg_stat_activity where wait_event = 'SyncRep'",
    );
    return (pid = row?.pid) !== undefined;
  });
  return Number(pid);
}
