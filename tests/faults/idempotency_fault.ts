import assert from "node:assert/strict";
import { startMain, testInFolder } from "../adapters/standalone/program.ts";
import { testPair } from "./pair.ts";
import { Repeats } from "./repeats.ts";
import { withServers } from "./servers.ts";

const ROUNDS = 6;
const FAILOVERS = 3;
/** How many more keys are answered before the next kill. */
const ENOUGH = 150;

testInFolder(
  "64 clients that repeat blindly add one pet for each key, though SQLite's servers are killed",
  async (cwd) => {
    const env = { PETSTORE_API_KEYS: "secret", REQUEST_LOG: "off" };
    const start = () => startMain({ cwd, env });
    const servers = await Promise.all([start(), start(), start()]);
    try {
      const repeats = new Repeats(() => servers.map(({ origin }) => origin));
      for (let round = 0; round < ROUNDS; round++) {
        await repeats.more(ENOUGH);
        // One of them, and in the end all at once.
        const killed = round === ROUNDS - 1
          ? [0, 1, 2]
          : [round % servers.length];
        const codes = killed.map((index) => servers[index]?.end("SIGKILL"));
        await Promise.all(killed.map(async (index, i) => {
          assert.equal(await codes[i], null);
          servers[index] = await start();
        }));
      }
      await repeats.more(ENOUGH);
      await repeats.verify();
      report(`${ROUNDS} rounds of kill -9 of 3 servers on SQLite`, repeats);
    } finally {
      await Promise.all(servers.map((server) => server.end()));
    }
  },
  { timeout: 150_000 },
);

testPair(
  "64 clients that repeat blindly add one pet for each key, though PostgreSQL is killed and a standby takes over",
  async (pair, url) => {
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
  },
);

function report(faults: string, { ids, sent, replayed }: Repeats): void {
  assert.ok(replayed > 0, "nothing was repeated");
  console.log(
    `${faults}: ${ids.size} keys, as many pets; ${sent} requests, ${replayed} answers replayed`,
  );
}
