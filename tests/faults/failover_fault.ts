import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cluster } from "../support/postgres/cluster.ts";
import { missingStandby } from "../support/postgres/standby.ts";
import { until } from "../support/postgres/until.ts";
import { hasTables } from "./has_tables.ts";
import { openLine } from "./line.ts";
import { Load } from "./load.ts";
import { type Pair, startPair } from "./pair.ts";
import { openPartition } from "./partition.ts";
import { type Servers, withServers } from "./servers.ts";

const options = { skip: await missingStandby(), timeout: 150_000 };

const ROUNDS = 4;
/** How many more are acknowledged before the next kill. */
const ENOUGH = 150;

test(
  "nothing acknowledged is lost when a synchronous standby takes over from a primary that is killed",
  options,
  async () => {
    await inPair({ synchronous: true }, async (pair) => {
      const database = await nameOfNewDatabase(pair.primary);
      const url = `postgres://postgres@${pair.addresses}/${database}`;
      await withServers(2, url, async (servers) => {
        const load = startLoad(servers);
        const gaps: number[] = [];
        let waited = 0;
        for (let round = 0; round < ROUNDS; round++) {
          waited += await acknowledge(load);
          gaps.push(await gapOf(load, () => pair.failOver()));
          await pair.repair();
        }
        // Where the first primary was there is a standby of the second by now, and so on.
        await load.more(ENOUGH);
        await load.stop();
        console.log(
          `${ROUNDS} failovers among two addresses, synchronous: ${await load
            .account(
              servers[0],
            )}; ${waited} before a kill; gaps ${gaps.join(", ")} ms`,
        );
      });
    });
  },
);

test(
  "a server does not add animals at a standby that stands first in its address",
  options,
  async () => {
    await inPair({ synchronous: true }, async (pair) => {
      const database = await nameOfNewDatabase(pair.primary);
      const hosts = pair.addresses.toReversed();
      const url = `postgres://postgres@${hosts}/${database}`;
      await withServers(2, url, async (servers) => {
        const load = startLoad(servers);
        await load.more(ENOUGH);
        await load.stop();
        console.log(`a standby first: ${await load.account(servers[0])}`);
        assert.equal(load.count("acknowledged"), load.creates.length);
      });
    });
  },
);

test(
  "nothing acknowledged is lost when the address moves to a synchronous standby",
  options,
  async () => {
    await inPair({ synchronous: true }, async (pair) => {
      const database = await nameOfNewDatabase(pair.primary);
      const address = await openLine(pair.primary.port);
      const url = `postgres://postgres@127.0.0.1:${address.port}/${database}`;
      try {
        await withServers(2, url, async (servers) => {
          const load = startLoad(servers);
          const gaps: number[] = [];
          let waited = 0;
          for (let round = 0; round < 2; round++) {
            waited += await acknowledge(load);
            gaps.push(
              await gapOf(load, async () => {
                await pair.failOver();
                address.leadTo(pair.primary.port);
              }),
            );
            await pair.repair();
          }
          await load.stop();
          console.log(
            `2 failovers of an address that moves, synchronous: ${await load
              .account(
                servers[0],
              )}; ${waited} before a kill; gaps ${gaps.join(", ")} ms`,
          );
        });
      } finally {
        await address.close();
      }
    });
  },
);

test(
  "nothing acknowledged is lost when a primary is cut off and a synchronous standby takes over, even if it comes back as it was",
  options,
  async () => {
    await inPair({ synchronous: true }, async (pair) => {
      const database = await nameOfNewDatabase(pair.primary);
      const { port } = pair.primary;
      const first = await openPartition({ port, host: "127.0.0.1" });
      const hosts = `127.0.0.1:${first.port},${pair.addresses[1]}`;
      const url = `postgres://postgres@${hosts}/${database}`;
      try {
        await withServers(2, url, async (servers) => {
          const load = startLoad(servers);
          const waited = await acknowledge(load);
          const gap = await gapOf(load, async () => {
            first.cutOff();
            await pair.standby.promote();
          });
          first.heal();
          await load.more(ENOUGH);
          await load.stop();
          // Nobody has told the first primary that it is none any more; but nobody follows it.
          await withServers(1, url, async ([mistaken]) => {
            const { outcome } = await load.create(mistaken);
            assert.notEqual(outcome, "acknowledged");
          });
          console.log(
            `a primary is cut off, and comes back beside another: ${await load
              .account(servers[0])}; ${waited} before it; gap ${gap} ms`,
          );
        });
      } finally {
        await first.close();
      }
    });
  },
);

test(
  "the control: an asynchronous standby that takes over has lost what was acknowledged",
  options,
  async () => {
    await inPair({ synchronous: false }, async (pair) => {
      const database = await nameOfNewDatabase(pair.primary);
      const url = `postgres://postgres@${pair.addresses}/${database}`;
      await withServers(2, url, async (servers) => {
        // The tables are to be there when it takes over: only the last animals are late.
        await until(
          "the standby has the tables",
          () => hasTables(pair.standby, database),
        );
        const load = startLoad(servers);
        let rounds = 0;
        let lost: Lost = { animals: 0, replaced: 0 };
        while (lost.animals === 0 && rounds++ < ROUNDS) {
          await load.more(ENOUGH);
          await gapOf(load, () => pair.failOver());
          lost = await findLost(load, pair.primary, database);
          await pair.repair();
        }
        await load.stop();
        console.log(
          `control, ${rounds} failovers, asynchronous: ${
            load.count("acknowledged")
          } acknowledged, ${lost.animals} lost, ids of ${lost.replaced} given again`,
        );
        assert.ok(lost.animals > 0, "this test could not fail");
      });
    });
  },
);

async function inPair(
  options: Parameters<typeof startPair>[0],
  work: (pair: Pair) => Promise<void>,
): Promise<void> {
  const pair = await startPair(options);
  try {
    await work(pair);
  } finally {
    await pair.close();
  }
}

async function nameOfNewDatabase(cluster: Cluster): Promise<string> {
  return new URL(await cluster.newDatabase()).pathname.slice(1);
}

function startLoad(servers: Servers): Load {
  const load = new Load();
  for (const server of servers) {
    load.start(server, { writers: 16, readers: 1 });
  }
  return load;
}

/** Returns how many are acknowledged until it is enough. */
async function acknowledge(load: Load): Promise<number> {
  const before = load.count("acknowledged");
  await load.more(ENOUGH);
  return load.count("acknowledged") - before;
}

/** How long nothing is acknowledged because of a fault that is repaired, in whole ms. */
async function gapOf(load: Load, fault: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await fault();
  await load.more(ENOUGH);
  return load.longestGap(start);
}

interface Lost {
  /** Animals that were acknowledged, and are not there. */
  readonly animals: number;
  /** Of these, those whose id another animal has. */
  readonly replaced: number;
}

async function findLost(
  load: Load,
  { query }: Cluster,
  database: string,
): Promise<Lost> {
  const acknowledged = load.creates.filter(({ outcome }) =>
    outcome === "acknowledged"
  );
  const rows = await query("select id::text, name from pets", { database });
  const names = new Map(rows.map(({ id, name }) => [String(id), name]));
  const lost = acknowledged.filter(({ id, name }) =>
    names.get(String(id)) !== name
  );
  return {
    animals: lost.length,
    replaced: lost.filter(({ id }) => names.has(String(id))).length,
  };
}
