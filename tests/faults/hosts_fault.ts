import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  type PetDatabase,
  postgresStorage,
} from "../../adapters/postgres/mod.ts";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import { NO_CLUSTER } from "../support/postgres/test_cluster.ts";
import { until } from "../support/time.ts";
import { REX } from "../support/pets.ts";

interface Two {
  /** Takes reads only, as a standby does. */
  readonly reading: Cluster;
  readonly writing: Cluster;
}

let started: Promise<Two> | undefined;
after(async () => {
  const { reading, writing } = await started ?? {};
  await reading?.close();
  await writing?.close();
});

async function startTwo(): Promise<Two> {
  const settings = { default_transaction_read_only: "on" };
  const [reading, writing] = await Promise.all([
    startCluster({ settings }),
    startCluster(),
  ]);
  return { reading, writing };
}

/** Registers a test, which is given two servers. */
function it(title: string, check: (two: Two) => Promise<void>): void {
  test(title, { skip: NO_CLUSTER, timeout: 60_000 }, async () => {
    await check(await (started ??= startTwo()));
  });
}

/** Runs `work` with a storage at several ports of 127.0.0.1, in this order. */
async function withStorage(
  ports: readonly number[],
  work: (storage: PetDatabase) => Promise<void>,
): Promise<void> {
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const storage = await postgresStorage(
    `postgres://postgres@${hosts}/postgres`,
  );
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

it("a storage goes to the other server if the one that it used takes no more writes", async ({ reading, writing }) => {
  await withStorage([writing.port, reading.port], async (storage) => {
    await storage.create(REX);
    await setReadOnly(writing, true);
    await setReadOnly(reading, false);
    try {
      // The connection that is open tells of it: nothing happened.
      await assert.rejects(storage.create(REX), {
        kind: "unavailable",
      });
      // The other server is another database here, and has no tables yet.
      await withStorage([reading.port], async () => {});
      // It looks at other servers once a second.
      await until(
        "the other server is used",
        () => storage.create(REX).then(({ id }) => id === 1n, () => false),
        3000,
      );
    } finally {
      await setReadOnly(writing, false);
      await setReadOnly(reading, true);
    }
  });
});

it("a storage waits at its start for a server that takes writes, as in the middle of a switchover", async ({ reading, writing }) => {
  await setReadOnly(writing, true);
  const opening = withStorage(
    [reading.port, writing.port],
    async (storage) => void await storage.create(REX),
  );
  // Handled now, so that a rejection does not go unhandled.
  const isOpen = opening.then(() => "opened", (error) => error);
  await pause(500);
  await setReadOnly(writing, false);
  assert.equal(await isOpen, "opened");
});

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
