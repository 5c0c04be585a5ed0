import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { openPartition } from "../../faults/partition.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { newPet } from "../../support/new_pet.ts";

const { skip, newDatabase } = await sharedPostgres();
const options = { skip, timeout: 30_000 };

test(
  "postgresStorage mistrusts all older connections once one does not answer",
  options,
  async () => {
    const url = new URL(await newDatabase());
    const partition = await openPartition({
      host: url.hostname,
      port: Number(url.port || 5432),
    });
    url.host = `127.0.0.1:${partition.port}`;
    const storage = await postgresStorage(url.href, { queryTimeout: 500 });
    const rex = { name: "Rex", categoryId: 1n, status: "sold" } as const;
    try {
      await Promise.all(
        Array.from({ length: 10 }, () => storage.list({ limit: 1 })),
      );
      // As where a firewall forgets them: they are lost, and nobody is told.
      partition.cutOff();
      partition.heal();
      await assert.rejects(storage.create(newPet(rex)), {
        kind: "outcome_unknown",
      });
      assert.equal((await storage.create(newPet(rex))).name, "Rex");
    } finally {
      await storage.close();
      await partition.close();
    }
  },
);
