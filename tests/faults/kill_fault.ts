import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import { signal } from "../support/postgres/process_tree.ts";
import { until } from "../support/postgres/until.ts";
import { Load, pause } from "./load.ts";
import { type FaultServer, withServers } from "./servers.ts";
import { CREATES, openSession } from "./session.ts";

const { missing } = await findBinaries();
const options = { skip: missing, timeout: 150_000 };

const ROUNDS = 4;
/** How many more are acknowledged before the next kill. */
const ENOUGH = 200;
/** How long servers may take to find out that the database is there again, in ms. */
const RECOVERY = 10_000;

test(
  "a create whose backend is killed is uncertain, and both servers recover by themselves",
  options,
  async () => {
    await inCluster(async (cluster) => {
      const url = await cluster.newDatabase();
      await withServers(2, url, async (servers) => {
        const load = new Load();
        let recovery = 0;
        for (let round = 0; round < ROUNDS; round++) {
          const holder = await openSession(url);
          await holder.holdCreates();
          const create = load.create(servers[0]);
          const pid = await servingBackend(cluster);
          const start = performance.now();
          signal(pid, "SIGKILL");
          assert.equal((await create).outcome, "uncertain");
          await holder.end();
          await ready(servers);
          for (const server of servers) {
            assert.equal((await load.create(server)).outcome, "acknowledged");
          }
          recovery = Math.max(recovery, performance.now() - start);
        }
        assert.equal(load.count("uncertain"), ROUNDS);
        assert.equal(load.count("refused"), 0);
        assert.equal(await load.verify(servers[0]), 0);
        console.log(
          `${ROUNDS} kills of the backend that serves a create, ${await load
            .account(servers[0])}; all was well again within ${
            Math.round(recovery)
          } ms`,
        );
      });
    });
  },
);

const kills: readonly {
  readonly what: string;
  readonly kill: (cluster: Cluster) => Promise<void>;
}[] = [
  {
    what: "the backend that serves a create is",
    kill: (cluster) =>
      crash(cluster, async () => [await servingBackend(cluster)]),
  },
  {
    what: "all backends are",
    kill: (cluster) => crash(cluster, () => cluster.backends()),
  },
  {
    what: "all of PostgreSQL is",
    kill: async (cluster) => {
      await cluster.kill();
      await cluster.start();
    },
  },
];

for (const { what, kill } of kills) {
  test(
    `nothing acknowledged is lost when ${what} killed under load`,
    options,
    async () => {
      await inCluster(async (cluster) => {
        await withServers(2, await cluster.newDatabase(), async (servers) => {
          const load = new Load();
          for (const server of servers) {
            load.start(server, { writers: 8, readers: 2 });
          }
          const gaps: number[] = [];
          for (let round = 0; round < ROUNDS; round++) {
            await load.more(ENOUGH);
            const start = performance.now();
            await kill(cluster);
            await ready(servers);
            await load.more(ENOUGH);
            gaps.push(load.longestGap(start));
          }
          await load.stop();
          console.log(
            `${ROUNDS} times ${what} killed, ${await load.account(
              servers[0],
            )}; ` +
              `longest gap ${load.longestGap()} ms (${gaps.join(", ")}), ` +
              `longest create ${load.longestCreate()} ms, read ${load.longestRead()} ms`,
          );
        });
      });
    },
  );
}

async function inCluster(
  work: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const cluster = await startCluster();
  try {
    await work(cluster);
  } finally {
    await cluster.close();
  }
}

/** Kills backends; PostgreSQL then ends all the others, recovers and goes on by itself. */
async function crash(
  cluster: Cluster,
  find: () => Promise<readonly number[]>,
): Promise<void> {
  const crashes = () => cluster.log().split("terminated by signal 9").length;
  const before = crashes();
  // The one that was found may have ended by itself.
  while (crashes() === before) {
    for (const pid of await find()) signal(pid, "SIGKILL");
    await pause(50);
  }
}

/** Waits for a backend amid a create. */
async function servingBackend(cluster: Cluster): Promise<number> {
  let pids: readonly number[] = [];
  await until("a create is served", async () => {
    pids = await cluster.backends(CREATES);
    return pids.length > 0;
  });
  return pids[0] as number;
}

/** Waits until all servers reach the database. */
async function ready(servers: readonly FaultServer[]): Promise<void> {
  for (const server of servers) {
    const isReady = async () => await server.readiness() === 200;
    await until("the server is ready again", isReady, RECOVERY);
  }
}
