import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import type { StorageError } from "../../../core/pets/pet_storage.ts";
import { freePort } from "../../support/ports.ts";
import { openLine } from "../../faults/line.ts";
import { REX } from "../../support/new_pet.ts";
import { setTimeout as delay } from "node:timers/promises";
import { sharedPostgres } from "../../support/postgres/shared.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

test("a read whose connection is lost is sent again", options, async () => {
  const url = new URL(await emptyDatabase());
  const port = Number(url.port || 5432);
  const line = await openLine(port, url.hostname);
  url.host = `127.0.0.1:${line.port}`;
  const storage = await postgresStorage(url.href);
  try {
    line.delay(60_000);
    const reading = storage.ping();
    await delay(50);
    line.delay(0);
    line.leadTo(port);
    await reading;
  } finally {
    await storage.close();
    await line.close();
  }
});

test(
  "postgresStorage mistrusts all older connections once one does not answer",
  options,
  async () => {
    const url = new URL(await emptyDatabase());
    const line = await openLine(Number(url.port || 5432), url.hostname);
    url.host = `127.0.0.1:${line.port}`;
    const storage = await postgresStorage(url.href, { queryTimeout: 500 });
    try {
      await Promise.all(
        Array.from({ length: 10 }, () => storage.ping()),
      );
      // As if a firewall forgot them: they are lost, and nobody is told.
      line.cutOff();
      line.heal();
      await assert.rejects(storage.create(REX), {
        kind: "outcome_unknown",
        message: /^Cannot tell the outcome \(create pet at /,
      });
      assert.equal((await storage.create(REX)).name, "Rex");
    } finally {
      await storage.close();
      await line.close();
    }
  },
);

test("postgresStorage tries each host of its address in turn, and names what is wrong with each, without the password", async () => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const opening = postgresStorage(`postgres://ann:s3cret@${hosts}/pets`, {
    openTimeout: 100,
  });
  const causes = ports.map((port) => `ECONNREFUSED 127.0.0.1:${port}`);
  await assert.rejects(opening, (error: StorageError) => {
    assert.equal(error.kind, "unavailable");
    assert.match(error.message, RegExp(`${causes.join("; .*")}$`));
    assert.doesNotMatch(inspect(error, { depth: 9 }), /s3cret/);
    return true;
  });
});
