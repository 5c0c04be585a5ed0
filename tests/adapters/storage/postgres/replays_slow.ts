import assert from "node:assert/strict";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import { StorageError } from "../../../../core/pets/pet_storage.ts";
import { atEnd } from "../../../support/at_end.ts";
import {
  onCluster,
  startStandby,
} from "../../../support/postgres/test_cluster.ts";
import { key, REX } from "../../../support/pets.ts";
import { until } from "../../../support/time.ts";

const it = onCluster();
const TIMES = { connectTimeout: 1000, queryTimeout: 2000 };
const WAITS = "from pg_stat_activity where wait_event = 'SyncRep'";

it("postgresStorage acknowledges a replay only when the synchronous standby has it", async ({ t, cluster: primary }) => {
  const standby = await startStandby(primary);
  atEnd(t, () => standby.close());
  const url = await primary.newDatabase();
  const open = async () => {
    const storage = await postgresStorage(url, TIMES);
    atEnd(t, () => storage.close());
    return storage;
  };
  const storages = [await open(), await open()] as const;
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

  const known = await storage.create(REX, key(0));
  await standby.stop();
  for (let round = 0; round < 2; round++) {
    const outcome = await outcomeOf(storage.create(REX, key(1)));
    assert.equal(outcome, "outcome_unknown");
    // Ends the wait of the commit: it is on the primary only.
    const cancelled = () =>
      primary.query(`select pg_cancel_backend(pid) ${WAITS}`);
    await until("nobody waits", async () => (await cancelled()).length === 0);
    assert.equal((await storage.list({ limit: 9 })).pets.length, 2);
  }

  const outcomes: string[] = [];
  for (let i = 0; i < 6; i++) {
    const creates = storages.map((storage) =>
      outcomeOf(storage.create(REX, key(i % 2)))
    );
    outcomes.push(...await Promise.all(creates));
    for (const storage of storages) {
      assert.deepEqual(await storage.get(known.id), known);
    }
  }
  // The first keeps the lock and waits, even after its client has left.
  assert.deepEqual(outcomes.sort(), [
    "outcome_unknown",
    ...Array(11).fill("unavailable"),
  ]);
  assert.equal((await primary.query(`select pid ${WAITS}`)).length, 1);

  await standby.start();
  // A lock that is not free yet is no failure here.
  while (await outcomeOf(storage.create(REX)) !== "acknowledged");
  const again = await storage.create(REX, key(0));
  assert.deepEqual(again, { ...known, replayed: true });
  assert.equal((await storage.create(REX, key(1))).replayed, true);
  assert.equal((await storage.create(REX, key(2))).replayed, undefined);
});
