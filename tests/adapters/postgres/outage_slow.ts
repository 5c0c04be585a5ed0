import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { REX } from "../../support/new_pet.ts";
import { startCluster } from "../../support/postgres/cluster.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { NO_CLUSTER } from "../../support/postgres/test_cluster.ts";

const LIMIT = 4;

test(
  "postgresStorage keeps to its connection_limit in the first 5 s after an outage, and works again",
  { skip: NO_CLUSTER, timeout: 60_000 },
  async () => {
    const cluster = await startCluster();
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
      const { id } = await storage.create(REX);
      const callers = Array.from({ length: 100 }, (_, i) => [
        call(() => storage.get(petId(id + BigInt(i)))),
        call(() => storage.list({ limit: i % 20 + 1 })),
        call(() => storage.create(REX)),
        call(() => storage.apiKeys.isActive(`${i}`)),
      ]).flat();
      await setTimeout(500);
      await cluster.kill();
      await setTimeout(1000);
      await cluster.start();

      answered = 0;
      const since = performance.now();
      const seconds: string[] = [];
      for (let second = 1; second <= 5; second++) {
        const before = answered;
        let most = 0;
        while (performance.now() - since < second * 1000) {
          const [row] = await runSql(
            url,
            "select count(*) from pg_stat_activity where application_name = 'petstore'",
          );
          most = Math.max(most, Number(row?.count));
        }
        assert.ok(most <= LIMIT, `${most} connections in second ${second}`);
        seconds.push(`${answered - before} answers, ${most} connections`);
      }
      assert.ok(answered > 0);
      isOver = true;
      await Promise.all(callers);
      console.log(seconds.join("; "));
    } finally {
      isOver = true;
      await storage.close();
      await cluster.close();
    }
  },
);
