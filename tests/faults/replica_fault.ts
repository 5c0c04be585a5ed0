import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, createClient } from "../../adapters/client/mod.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { missingStandby, startStandby } from "../support/postgres/standby.ts";
import { until } from "../support/postgres/until.ts";
import { hasTables } from "./has_tables.ts";
import { type FaultServer, withServers } from "./servers.ts";

const options = { skip: await missingStandby(), timeout: 60_000 };
const REX = { name: "Rex", categoryId: 1n } as const;

test(
  "a server on a standby shows what the primary has, and refuses creates",
  options,
  async () => {
    const primary = await startCluster();
    try {
      const url = await primary.newDatabase();
      const standby = await startStandby(primary);
      try {
        const replica = new URL(url);
        replica.port = String(standby.port);
        await withServers(1, url, async ([writing]) => {
          await until(
            "the standby has the tables",
            () => hasTables(standby, replica.pathname.slice(1)),
          );
          await withServers(
            1,
            replica.href,
            ([reading]) => assertReplica(writing, reading),
          );
        });
      } finally {
        await standby.close();
      }
    } finally {
      await primary.close();
    }
  },
);

async function assertReplica(
  writing: FaultServer,
  reading: FaultServer,
): Promise<void> {
  const [writer, reader] = [clientOf(writing), clientOf(reading)];
  assert.equal(await reading.readiness(), 200);

  const { id } = await writer.createPet(REX);
  const since = performance.now();
  await until(
    "the standby shows it",
    async () => (await reader.listPets()).pets.length === 1,
  );
  const took = Math.round(performance.now() - since);
  console.log(`a standby shows pet ${id} after ${took} ms`);

  await assert.rejects(reader.createPet(REX), {
    status: 503,
    uncertain: false,
  });
  assert.equal((await writer.listPets()).pets.length, 1);
}

function clientOf({ origin, key }: FaultServer): Client {
  return createClient({ baseUrl: `${origin}/v1`, key, retries: 0 });
}
