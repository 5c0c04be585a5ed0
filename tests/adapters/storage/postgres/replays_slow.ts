import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import { StorageError } from "../../../../core/pets/pet_storage.ts";
import {
  missingStandby,
  NO_CLUSTER,
  ON_CLUSTER,
  startStandby,
  withCluster,
} from "../../../support/postgres/test_cluster.ts";
import { skipping } from "../../../support/runtime.ts";
import { key, REX } from "../../../support/pets.ts";
import { until } from "../../../support/time.ts";

const TIMES = { connectTimeout: 400, queryTimeout: 800 };
const WAITS = "from pg_stat_activity where wait_event = 'SyncRep'";

test(
  "postgresStorage acknowledges a replay only when the synchronous standby has it",
  { ...ON_CLUSTER, skip: NO_CLUSTER || skipping(await missingStandby()) },
  withCluster(async (primary) => {
    const standby = await startStandby(primary);
    const url = await primary.newDatabase();
    const storages = [
      await postgresStorage(url, TIMES),
      await postgresStorage(url, TIMES),
    ] as const;
    const [storage] = storages;

    async function outcomeOf(create: Promise<unknown>): Promise<string> {
      try {
        await create;
        return "acknowledged";
      } catch (error) {
        assert.ok(error instanceof StorageError, String(error));
        return error.kind;
      }
    }

    /** Ends the wait of a commit: it is on the primary only. */
    async function endWait(): Promise<void> {
      const cancelled = () =>
        primary.query(`select pg_cancel_backend(pid) ${WAITS}`);
      await until("nobody waits", async () => (await cancelled()).length === 0);
    }

    try {
      const known = await storage.create(REX, key(0));
      await standby.stop();
      assert.equal(
        await outcomeOf(storage.create(REX, key(1))),
        "outcome_unknown",
      );
      await endWait();
      assert.equal((await storage.list({ limit: 9 })).pets.length, 2);
      assert.equal(
        await outcomeOf(storage.create(REX, key(1))),
        "outcome_unknown",
      );
      await endWait();

      const outcomes: string[] = [];
      for (let i = 0; i < 10; i++) {
        const creates = storages.map((storage) =>
          outcomeOf(storage.create(REX, key(i % 2)))
        );
        outcomes.push(...await Promise.all(creates));
        for (const storage of storages) {
          assert.deepEqual(await storage.get(known.id), known);
        }
      }
      assert.equal(outcomes.length, 20);
      // The first keeps the lock and waits, even after its client has left.
      assert.equal(outcomes.filter((it) => it === "outcome_unknown").length, 1);
      assert.equal(outcomes.filter((it) => it === "unavailable").length, 19);
      assert.equal((await primary.query(`select pid ${WAITS}`)).length, 1);

      await standby.start();
      // A lock that is not free yet is no failure here.
      while (await outcomeOf(storage.create(REX)) !== "acknowledged");
      assert.deepEqual(await storage.create(REX, key(0)), {
        ...known,
        replayed: true,
      });
      assert.equal((await storage.create(REX, key(1))).replayed, true);
      assert.equal((await storage.create(REX, key(2))).replayed, undefined);
    } finally {
      await Promise.all(storages.map((storage) => storage.close()));
      await standby.close();
    }
  }),
);
