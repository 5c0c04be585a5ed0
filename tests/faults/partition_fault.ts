import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/postgres/until.ts";
import { LONGEST_CREATE, LONGEST_READ } from "./bounds.ts";
import { Load, pause } from "./load.ts";
import { openPartition, type Partition } from "./partition.ts";
import { withServers } from "./servers.ts";
import { skipping } from "../support/skipping.ts";

const missing = skipping((await findBinaries()).missing);
const options = { skip: missing, timeout: 120_000 };

/** How long the network is away, in ms. */
const OUTAGE = 7000;
/** How long servers may take to find out that the network is there again, in ms. */
const RECOVERY = 30_000;

test(
  "every request is answered in time while the network is away, and both servers recover",
  options,
  async () => {
    await inPartition(async ({ url, partition }) => {
      await withServers(2, url, async (servers) => {
        const load = new Load();
        for (const server of servers) {
          load.start(server, { writers: 8, readers: 4 });
        }
        await load.more(200);
        partition.cutOff();
        await pause(OUTAGE);
        partition.heal();
        await load.more(200, RECOVERY);
        await load.stop();
        for (const server of servers) {
          const isReady = async () => await server.readiness() === 200;
          await until("the server is ready again", isReady, RECOVERY);
        }
        assert.ok(load.longestRead() < LONGEST_READ);
        assert.ok(load.longestCreate() < LONGEST_CREATE);
        await load.verify(servers[0]);
      });
    });
  },
);

/** Where servers reach PostgreSQL. */
interface Surroundings {
  readonly cluster: Cluster;
  readonly partition: Partition;
  /** The database, through the partition. */
  readonly url: string;
  /** The same, past it. */
  readonly direct: string;
}

async function inPartition(
  work: (surroundings: Surroundings) => Promise<void>,
): Promise<void> {
  const cluster = await startCluster();
  const partition = await openPartition({
    host: "127.0.0.1",
    port: cluster.port,
  });
  try {
    const direct = await cluster.newDatabase();
    const url = new URL(direct);
    url.port = String(partition.port);
    await work({ cluster, partition, url: url.href, direct });
  } finally {
    await partition.close();
    await cluster.close();
  }
}
