import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/postgres/until.ts";
import { LONGEST_CREATE, LONGEST_READ } from "./bounds.ts";
import { Load, pause } from "./load.ts";
import { openPartition, type Partition } from "./partition.ts";
import { withServers } from "./servers.ts";
import { CREATES, openSession } from "./session.ts";

const { missing } = await findBinaries();
const options = { skip: missing, timeout: 120_000 };

/** How long the network is away, in ms. */
const OUTAGE = 7000;
/** How long servers may take to find out that the network is there again, in ms. */
const RECOVERY = 30_000;

test(
  "a create that is cut off from PostgreSQL is uncertain, added or not",
  options,
  async () => {
    await inPartition(async ({ cluster, url, partition, direct }) => {
      await withServers(1, url, async ([server]) => {
        const load = new Load();
        assert.equal((await load.create(server)).outcome, "acknowledged");

        // The answer does not come through.
        const holder = await openSession(direct);
        await holder.holdCreates();
        const unanswered = load.create(server);
        await until(
          "the create waits",
          async () => (await cluster.backends(CREATES)).length > 0,
        );
        partition.cutOff();
        await holder.end();
        assert.equal((await unanswered).outcome, "uncertain");
        assert.equal(await stored(direct, (await unanswered).name), 1);
        partition.heal();
        assert.equal((await load.create(server)).outcome, "acknowledged");

        // The create itself does not come through.
        partition.cutOff();
        const unsent = await load.create(server);
        assert.equal(unsent.outcome, "uncertain");
        partition.heal();
        assert.equal((await load.create(server)).outcome, "acknowledged");
        assert.equal(await stored(direct, unsent.name), 0);

        assert.ok(load.longestCreate() < LONGEST_CREATE);
        console.log(
          `Cut off amid a create, and before it: ${await load.account(
            server,
          )}; ` +
            `longest create ${load.longestCreate()} ms`,
        );
      });
    });
  },
);

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
        const end = performance.now();
        partition.heal();
        await load.more(200, RECOVERY);
        await load.stop();
        for (const server of servers) {
          const isReady = async () => await server.readiness() === 200;
          await until("the server is ready again", isReady, RECOVERY);
        }
        assert.ok(load.longestRead() < LONGEST_READ);
        assert.ok(load.longestCreate() < LONGEST_CREATE);
        console.log(
          `${OUTAGE} ms without network: ${await load.account(servers[0])}; ` +
            `one acknowledged ${load.next(end)} ms after its end, ` +
            `longest create ${load.longestCreate()} ms, read ${load.longestRead()} ms`,
        );
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

/** How many animals of a name there are. */
async function stored(url: string, name: string): Promise<number> {
  const session = await openSession(url);
  try {
    return await session.count("select from pets where name = $1", [name]);
  } finally {
    await session.end();
  }
}
