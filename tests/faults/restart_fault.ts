import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { until } from "../support/postgres/until.ts";
import { Load } from "./load.ts";
import { withServers } from "./servers.ts";

const { missing } = await findBinaries();
const options = { skip: missing, timeout: 120_000 };

const ROUNDS = 4;
/** How many more are acknowledged before the next restart. */
const ENOUGH = 300;
/** How long servers may take to find out that the database is there again, in ms. */
const RECOVERY = 5000;

for (const mode of ["fast", "immediate"] as const) {
  test(
    `nothing acknowledged is lost when PostgreSQL is restarted under load (${mode})`,
    options,
    async () => {
      const cluster = await startCluster();
      try {
        const url = await cluster.newDatabase();
        await withServers(2, url, async (servers) => {
          const load = new Load();
          for (const server of servers) {
            load.start(server, { writers: 8, readers: 2 });
          }
          const gaps: number[] = [];
          for (let round = 0; round < ROUNDS; round++) {
            await load.more(ENOUGH);
            for (const server of servers) {
              assert.equal(await server.readiness(), 200);
            }
            const start = performance.now();
            await cluster.stop(mode);
            for (const server of servers) {
              assert.equal(await server.readiness(), 503);
            }
            await cluster.start();
            for (const server of servers) {
              const isReady = async () => await server.readiness() === 200;
              await until("the server is ready again", isReady, RECOVERY);
            }
            await load.more(ENOUGH);
            gaps.push(load.longestGap(start));
          }
          await load.stop();
          console.log(
            `${ROUNDS} restarts (${mode}) under 2 servers, ${await load.account(
              servers[0],
            )}; longest gap ${load.longestGap()} ms (${
              gaps.join(", ")
            }), longest create ${load.longestCreate()} ms, read ${load.longestRead()} ms`,
          );
        });
      } finally {
        await cluster.close();
      }
    },
  );
}
