import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inNewFolder,
  type RunningServer,
  startMain,
} from "../adapters/standalone/program.ts";

import { missingStandby } from "../support/postgres/standby.ts";
import { skipping } from "../support/skipping.ts";
import { startPair } from "./pair.ts";
import { Repeats } from "./repeats.ts";
import { withServers } from "./servers.ts";

const ROUNDS = 6;
const FAILOVERS = 3;
/** How many more keys are answered before the next kill. */
const ENOUGH = 150;

test(
  "64 clients that repeat blindly add one pet for each key, though SQLite's servers are killed",
  { timeout: 150_000 },
  async () => {
    await inNewFolder(async (cwd) => {
      const env = { PETSTORE_API_KEYS: "secret", REQUEST_LOG: "off" };
      const start = (): Promise<RunningServer> => startMain({ cwd, env });
      const servers = await Promise.all([start(), start(), start()]);
      try {
        const repeats = new Repeats(() => servers.map(({ origin }) => origin));
        for (let round = 0; round < ROUNDS; round++) {
          await repeats.more(ENOUGH);
          // One of them, and in the end all at once.
          const killed = round === ROUNDS - 1
            ? [0, 1, 2]
            : [round % servers.length];
          for (const index of killed) servers[index]?.kill("SIGKILL");
          await Promise.all(killed.map(async (index) => {
            assert.equal(await servers[index]?.exited, null);
            servers[index] = await start();
          }));
        }
        await repeats.more(ENOUGH);
        await repeats.verify();
        report(`${ROUNDS} rounds of kill -9 of 3 servers on SQLite`, repeats);
      } finally {
        for (const server of servers) server.kill("SIGTERM");
        await Promise.all(servers.map(({ exited }) => exited));
      }
    });
  },
);

test(
  "64 clients that repeat blindly add one pet for each key, though PostgreSQL is killed and a standby takes over",
  { skip: skipping(await missingStandby()), timeout: 200_000 },
  async () => {
    const pair = await startPair();
    try {
      const { pathname } = new URL(await pair.primary.newDatabase());
      const url = `postgres://postgres@${pair.addresses}${pathname}`;
      await withServers(2, url, async (servers) => {
        const repeats = new Repeats(() => servers.map(({ origin }) => origin));
        for (let round = 0; round < FAILOVERS; round++) {
          await repeats.more(ENOUGH);
          await pair.failOver();
          await repeats.more(ENOUGH);
          await pair.repair();
        }
        await repeats.more(ENOUGH);
        await repeats.verify();
        report(`${FAILOVERS} failovers of PostgreSQL`, repeats);
      });
    } finally {
      await pair.close();
    }
  },
);

function report(faults: string, { ids, sent, replayed }: Repeats): void {
  assert.ok(replayed > 0, "nothing was repeated");
  console.log(
    `${faults}: ${ids.size} keys, as many pets; ${sent} requests, ${replayed} answers replayed`,
  );
}
