import assert from "node:assert/strict";
import { openLine } from "./line.ts";
import { Load } from "./load.ts";
import { testPair as it } from "./pair.ts";
import { withServers } from "./servers.ts";

const ROUNDS = 4;
/** How many more are acknowledged before the next kill. */
const ENOUGH = 150;
const BUSY = { writers: 16, readers: 1 };

it(
  "nothing acknowledged is lost when a synchronous standby takes over from a primary that is killed",
  async (pair, url) => {
    await withServers(2, url, async (servers) => {
      const load = new Load();
      load.start(servers, BUSY);
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
  },
);

it(
  "nothing acknowledged is lost when the address moves to a synchronous standby",
  async (pair, url) => {
    const address = await openLine(pair.primary.port);
    const moving = url.replace(
      `${pair.addresses}`,
      `127.0.0.1:${address.port}`,
    );
    try {
      await withServers(2, moving, async (servers) => {
        const load = new Load();
        load.start(servers, BUSY);
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
  },
);

it(
  "nothing acknowledged is lost when a primary is cut off and a synchronous standby takes over, even if it comes back as it was",
  async (pair, url) => {
    const first = await openLine(pair.primary.port);
    const between = url.replace(pair.addresses[0], `127.0.0.1:${first.port}`);
    try {
      await withServers(2, between, async (servers) => {
        const load = new Load();
        load.start(servers, BUSY);
        await load.more(ENOUGH);
        first.cutOff();
        await pair.standby.promote();
        await load.more(ENOUGH);
        first.heal();
        await load.more(ENOUGH);
        await load.stop();
        // Nobody has told the first primary that it is none any more; but nobody follows it.
        await withServers(1, between, async ([mistaken]) => {
          const { outcome } = await load.create(mistaken);
          assert.notEqual(outcome, "acknowledged");
        });
        await load.verify(servers[0]);
      });
    } finally {
      await first.close();
    }
  },
);
