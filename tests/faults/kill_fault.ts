import type { Cluster } from "../support/postgres/cluster.ts";
import { signal } from "../support/postgres/process_tree.ts";
import { testCluster as it } from "../support/postgres/test_cluster.ts";
import { Load, pause } from "./load.ts";
import { untilReady, withServers } from "./servers.ts";

const ROUNDS = 4;
/** How many more are acknowledged before the next kill. */
const ENOUGH = 200;

const kills: Readonly<Record<string, (cluster: Cluster) => Promise<void>>> = {
  "all backends are killed": crash,
  "PostgreSQL is restarted": async (cluster) => {
    await cluster.stop();
    await cluster.start();
  },
  "all of PostgreSQL is killed": async (cluster) => {
    await cluster.kill();
    await cluster.start();
  },
};

for (const [what, kill] of Object.entries(kills)) {
  it(
    `nothing acknowledged is lost when ${what} under load`,
    async (cluster) => {
      await withServers(2, await cluster.newDatabase(), async (servers) => {
        const load = new Load();
        load.start(servers, { writers: 8, readers: 2 });
        for (let round = 0; round < ROUNDS; round++) {
          await load.more(ENOUGH);
          await kill(cluster);
          await untilReady(servers);
          await load.more(ENOUGH);
        }
        await load.stop();
        await load.verify(servers[0]);
      });
    },
  );
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
