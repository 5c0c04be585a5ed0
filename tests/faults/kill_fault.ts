import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import { signal } from "../support/postgres/process_tree.ts";
import { until } from "../support/postgres/until.ts";
import { Load, pause } from "./load.ts";
import { type FaultServer, withServers } from "./servers.ts";
import { skipping } from "../support/skipping.ts";

const missing = skipping((await findBinaries()).missing);
const options = { skip: missing, timeout: 150_000 };

const ROUNDS = 4;
/** How many more are acknowledged before the next kill. */
const ENOUGH = 200;
/** How long servers may take to find out that the database is there again, in ms. */
const RECOVERY = 10_000;

const kills: readonly {
  readonly what: string;
  readonly kill: (cluster: Cluster) => Promise<void>;
}[] = [
  { what: "all backends are killed", kill: crash },
  {
    what: "PostgreSQL is restarted",
    kill: (cluster) => cluster.restart("fast"),
  },
  {
    what: "all of PostgreSQL is killed",
    kill: async (cluster) => {
      await cluster.kill();
      await cluster.start();
    },
  },
];

for (const { what, kill } of kills) {
  test(
    `nothing acknowledged is lost when ${what} under load`,
    options,
    async () => {
      await inCluster(async (cluster) => {
        await withServers(2, await cluster.newDatabase(), async (servers) => {
          const load = new Load();
          for (const server of servers) {
            load.start(server, { writers: 8, readers: 2 });
          }
          for (let round = 0; round < ROUNDS; round++) {
            await load.more(ENOUGH);
            await kill(cluster);
            await ready(servers);
            await load.more(ENOUGH);
          }
          await load.stop();
          await load.verify(servers[0]);
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
async function crash(cluster: Cluster): Promise<void> {
  const crashes = () => cluster.log().split("terminated by signal 9").length;
  const before = crashes();
  // Those that were found may have ended by themselves.
  while (crashes() === before) {
    for (const pid of await cluster.backends()) signal(pid, "SIGKILL");
    await pause(50);
  }
}

/** Waits until all servers reach the database. */
async function ready(servers: readonly FaultServer[]): Promise<void> {
  for (const server of servers) {
    const isReady = async () => await server.readiness() === 200;
    await until("the server is ready again", isReady, RECOVERY);
  }
}
