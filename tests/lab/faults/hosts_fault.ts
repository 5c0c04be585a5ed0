import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { atEnd } from "../../support/at_end.ts";
import {
  changeSetting,
  type Cluster,
  startCluster,
} from "../../support/postgres/cluster.ts";
import {
  ON_CLUSTER,
  withCluster,
} from "../../support/postgres/test_cluster.ts";
import { awaitedLater, until } from "../../support/time.ts";
import { REX } from "../../support/pets.ts";

/** The log tells who was connected. */
const OPTIONS = { settings: { log_connections: "on" } };

test(
  "a storage waits for a server that takes writes, at its start and in a switchover",
  ON_CLUSTER,
  withCluster(async (first, t) => {
    const second = await startCluster(OPTIONS);
    atEnd(t, () => second.close());
    const both = [second, first];
    for (const each of both) await setReadOnly(each, true);
    const hosts = both.map(({ port }) => `127.0.0.1:${port}`);
    const opening = awaitedLater(
      postgresStorage(`postgres://postgres@${hosts}/postgres`),
    );
    const isAsked = ({ log }: Cluster) => log().includes("name=petstore");
    await until("each was asked", () => both.every(isAsked));
    await setReadOnly(first, false);
    const storage = await opening;
    atEnd(t, () => storage.close());
    await storage.create(REX);
    await setReadOnly(first, true);
    await setReadOnly(second, false);
    // The connection that is open tells of it: nothing happened.
    const refused = { kind: "unavailable" };
    await assert.rejects(storage.create(REX), refused);
    // The other server is another database here, and has no tables yet.
    await (await postgresStorage(second.url("postgres"))).close();
    await until(
      "the other server is used",
      () => storage.create(REX).then(({ id }) => id === 1n, () => false),
    );
  }, OPTIONS),
);

/** Sets it for all transactions from now on, those of open connections as well. */
function setReadOnly(cluster: Cluster, isOn: boolean): Promise<void> {
  return changeSetting(
    cluster,
    "default_transaction_read_only",
    isOn ? "on" : "off",
  );
}
