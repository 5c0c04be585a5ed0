import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cluster } from "../support/postgres/cluster.ts";
import { missingStandby } from "../support/postgres/standby.ts";
import { openLine } from "./line.ts";
import { Load } from "./load.ts";
import { type Pair, startPair } from "./pair.ts";
import { openPartition } from "./partition.ts";
import { type Servers, withServers } from "./servers.ts";
import { skipping } from "../support/skipping.ts";

const options = { skip: skipping(await missingStandby()), timeout: 150_000 };

function it(title: string, check: () => Promise<void>): void {
  test(title, options, check);
}

const ROUNDS = 4;
/** How many more are acknowledged before the next kill. */
const ENOUGH = 150;

it("nothing acknowledged is lost when a synchronous standby takes over from a primary that is killed", async () => {
  await inPair(async (pair) => {
    const database = await nameOfNewDatabase(pair.primary);
    const url = `postgres://postgres@${pair.addresses}/${database}`;
    await withServers(2, url, async (servers) => {
      const load = startLoad(servers);
      for (let round = 0; round < ROUNDS; round++) {
        await load.more(ENOUGH);
        await pair.failOver();
        await load.more(ENOUGH);
        await pair.repair();
      }
      // Where the first primary was there is a standby of the second by now, and so on.
      await load.more(ENOUGH);
      await load.stop();
      await load.verify(servers[0]);
    });
  });
});

it("nothing acknowledged is lost when the address moves to a synchronous standby", async () => {
  await inPair(async (pair) => {
    const database = await nameOfNewDatabase(pair.primary);
    const address = await openLine(pair.primary.port);
    const url = `postgres://postgres@127.0.0.1:${address.port}/${database}`;
    try {
      await withServers(2, url, async (servers) => {
        const load = startLoad(servers);
        for (let round = 0; round < 2; round++) {
          await load.more(ENOUGH);
          await pair.failOver();
          address.leadTo(pair.primary.port);
          await load.more(ENOUGH);
          await pair.repair();
        }
        await load.stop();
        await load.verify(servers[0]);
      });
    } finally {
      await address.close();
    }
  });
});

it("nothing acknowledged is lost when a primary is cut off and a synchronous standby takes over, even if it comes back as it was", async () => {
  await inPair(async (pair) => {
    const database = await nameOfNewDatabase(pair.primary);
    const { port } = pair.primary;
    const first = await openPartition({ port, host: "127.0.0.1" });
    const hosts = `127.0.0.1:${first.port},${pair.addresses[1]}`;
    const url = `postgres://postgres@${hosts}/${database}`;
    try {
      await withServers(2, url, async (servers) => {
        const load = startLoad(servers);
        await load.more(ENOUGH);
        first.cutOff();
        await pair.standby.promote();
        await load.more(ENOUGH);
        first.heal();
        await load.more(ENOUGH);
        await load.stop();
        // Nobody has told the first primary that it is none any more; but nobody follows it.
        await withServers(1, url, async ([mistaken]) => {
          const { outcome } = await load.create(mistaken);
          assert.notEqual(outcome, "acknowledged");
        });
        await load.verify(servers[0]);
      });
    } finally {
      await first.close();
    }
  });
});

async function inPair(work: (pair: Pair) => Promise<void>): Promise<void> {
  const pair = await startPair();
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
