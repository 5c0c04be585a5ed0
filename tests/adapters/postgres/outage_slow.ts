import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import {
  ON_CLUSTER,
  withCluster,
} from "../../support/postgres/test_cluster.ts";
import { REX } from "../../support/pets.ts";

const LIMIT = 4;

test(
  "postgresStorage keeps to its connection_limit in the first 5 s after an outage, and works again",
  ON_CLUSTER,
  withCluster(async (cluster) => {
    const url = await cluster.newDatabase();
    const storage = await postgresStorage(`${url}?connection_limit=${LIMIT}`);
    let isOver = false;
    let answered = 0;

    async function call(read: () => Promise<unknown>): Promise<void> {
      while (!isOver) {
        try {
          await read();
          answered++;
        } catch (error) {
          assert.ok(error instanceof StorageError, String(error));
        }
        await setTimeout(5);
      }
    }

    try {
      const callers = Array.from({ length: 100 }, (_, i) => [
        call(() => storage.get(petId(BigInt(i + 1)))),
        call(() => storage.list({ limit: i % 20 + 1 })),
        call(() => storage.create(REX)),
        call(() => storage.apiKeys.isActive(`${i}`)),
      ]).flat();
      await setTimeout(500);
      await cluster.kill();
      await setTimeout(1000);
      await cluster.start();

      answered = 0;
      const end = performance.now() + 5000;
      while (performance.now() < end) {
        const connections = await cluster.backends();
        assert.ok(connections.length <= LIMIT, `${connections.length}`);
      }
      assert.ok(answered > 0);
      isOver = true;
      await Promise.all(callers);
    } finally {
      isOver = true;
      await storage.close();
    }
  }),
);
