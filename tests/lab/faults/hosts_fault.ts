import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { type Cluster, startCluster } from "../../support/postgres/cluster.ts";
import {
  ON_CLUSTER,
  withCluster,
} from "../../support/postgres/test_cluster.ts";
import { until } from "../../support/time.ts";
import { REX } from "../../support/pets.ts";

test(
  "a storage waits for a server that takes writes, at its start and in a switchover",
  ON_CLUSTER,
  withCluster(async (first) => {
    const second = await startCluster();
    try {
      for (const each of [first, second]) await setReadOnly(each, true);
      const hosts = [second, first].map(({ port }) => `127.0.0.1:${port}`);
      const opening = postgresStorage(
        `postgres://postgres@${hosts}/postgres`,
      );
      // Handled now, so that a rejection does not go unhandled.
      const isOpen = opening.then(() => "opened", (error) => error);
      await pause(500);
      await setReadOnly(first, false);
      assert.equal(await isOpen, "opened");
      const storage = await opening;
      try {
        await storage.create(REX);
        await setReadOnly(first, true);
        await setReadOnly(second, false);
        // The connection that is open tells of it: nothing happened.
        const refused = { kind: "unavailable" };
        await assert.rejects(storage.create(REX), refused);
        // The other server is another database here, and has no tables yet.
        await (await postgresStorage(second.url("postgres"))).close();
        // It looks at other servers once a second.
        await until(
          "the other server is used",
          () => storage.create(REX).then(({ id }) => id === 1n, () => false),
          3000,
        );
      } finally {
        await storage.close();
      }
    } finally {
      await second.close();
    }
  }),
);

/** Sets it for all transactions from now on, those of open connections as well. */
async function setReadOnly(cluster: Cluster, isOn: boolean): Promise<void> {
  const value = isOn ? "on" : "off";
  // A session of its own may write even if the default is that none does.
  await cluster.query(
    `alter system set default_transaction_read_only = ${value}`,
  );
  await cluster.query("select pg_reload_conf()");
  await until("it is set", async () => {
    const [row] = await cluster.query("show default_transaction_read_only");
    return row?.default_transaction_read_only === value;
  });
}
