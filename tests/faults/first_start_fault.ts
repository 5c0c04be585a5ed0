import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../adapters/client/mod.ts";
import {
  inNewFolder,
  type RunningServer,
  startMain,
} from "../adapters/standalone/program.ts";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/postgres/until.ts";

const { missing } = await findBinaries();
const options = { skip: missing, timeout: 600_000 };

const ROUNDS = 20;
const SERVERS = 16;

test(
  "of servers that start at once on an empty database one issues the first key, and all take it",
  options,
  async () => {
    const cluster = await startCluster();
    const times: number[] = [];
    try {
      await inNewFolder(async (cwd) => {
        for (let round = 0; round < ROUNDS; round++) {
          const url = await cluster.newDatabase();
          times.push(await startAtOnce(cwd, url));
          await until(
            "nobody is connected any more",
            async () => (await cluster.backends()).length === 0,
          );
        }
      });
    } finally {
      await cluster.close();
    }
    console.log(
      `${ROUNDS} times ${SERVERS} servers at once on an empty database, 0 failures, ` +
        `1 first key each time; all listened within ${
          Math.round(Math.max(...times))
        } ms`,
    );
  },
);

/** Starts servers at once and ends them; returns how long it took until all listened, in ms. */
async function startAtOnce(cwd: string, url: string): Promise<number> {
  const env = {
    DATABASE_URL: url,
    REQUEST_LOG: "off",
    // Node would compile the same for each of them.
    NODE_COMPILE_CACHE: `${cwd}/compiled`,
  };
  const start = performance.now();
  const starts = await Promise.allSettled(
    Array.from({ length: SERVERS }, () => startMain({ cwd, env })),
  );
  const took = performance.now() - start;
  const servers = starts.flatMap((start) =>
    start.status === "fulfilled" ? [start.value] : []
  );
  try {
    for (const start of starts) {
      if (start.status === "rejected") throw start.reason;
    }
    await shareTheFirstKey(servers);
  } finally {
    for (const server of servers) server.kill("SIGTERM");
    for (const server of servers) assert.equal(await server.exited, 0);
  }
  return took;
}

/** The key that one printed adds an animal at every other. */
async function shareTheFirstKey(
  servers: readonly RunningServer[],
): Promise<void> {
  const keys = servers.flatMap(({ key }) => key === undefined ? [] : [key]);
  assert.equal(keys.length, 1, "one server has the first key");
  const [key = ""] = keys;
  const ids = await Promise.all(servers.map(async ({ origin }, index) => {
    const client = createClient({ baseUrl: `${origin}/v1`, key, retries: 0 });
    const name = `Rex ${index}`;
    return (await client.createPet({ name, categoryId: 1n })).id;
  }));
  ids.sort((one, other) => Number(one - other));
  assert.deepEqual(ids, servers.map((_, index) => BigInt(index + 1)));
}
