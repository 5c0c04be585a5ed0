import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { REX } from "../../support/new_pet.ts";
import { testCluster } from "../../support/postgres/test_cluster.ts";

/** Longer than a read waits for its turn. */
const TIMES = { connectTimeout: 3000, queryTimeout: 3000 };
const MAX_WAIT = 2000;
/** Time that a busy machine may add, in ms. */
const SLACK = 800;

interface Read {
  readonly took: number;
  readonly fault: unknown;
}

testCluster(
  "postgresStorage goes on reading while some connections hang; if all do, each read is refused in time",
  async (cluster) => {
    const storage = await postgresStorage(await cluster.newDatabase(), TIMES);
    let reads: Read[] = [];
    let isOver = false;

    async function read(): Promise<void> {
      const began = performance.now();
      let fault: unknown;
      try {
        const id = petId(BigInt(1 + Math.floor(Math.random() * 100)));
        assert.equal((await storage.get(id))?.id, id);
      } catch (error) {
        fault = error;
      }
      reads.push({ took: performance.now() - began, fault });
    }

    try {
      await Promise.all(Array.from({ length: 100 }, () => storage.create(REX)));
      await Promise.all(Array.from({ length: 10 }, () => storage.ping()));
      const callers = Array.from({ length: 50 }, async () => {
        while (!isOver) {
          await read();
          await setTimeout(5);
        }
      });
      const enough = async (count: number) => {
        while (reads.length < count) await setTimeout(5);
      };
      await enough(200);

      for (const count of [1, 3]) {
        const busy = await cluster.query(
          `select pid from pg_stat_activity where query like '%FROM pets WHERE id%'
            and pid <> pg_backend_pid() order by query_start desc limit $1`,
          [count],
        );
        const pids = busy.map(({ pid }) => Number(pid));
        pids.forEach((pid) => process.kill(pid, "SIGSTOP"));
        try {
          // On each, one statement at most hangs, with those that it answers.
          let answered = 0;
          for (let i = 0; i < 100; i++) {
            read().then(() => answered++);
            await setTimeout(10);
          }
          await setTimeout(200);
          assert.ok(answered > 50, `${answered} of 100 while ${count} hang`);
        } finally {
          pids.forEach((pid) => process.kill(pid, "SIGCONT"));
        }
        await enough(reads.length + 300);
      }
      assert.deepEqual(reads.filter(({ fault }) => fault), []);

      reads = [];
      await cluster.pause();
      // The callers all wait for statements that hang by now; others come.
      const others: Promise<void>[] = [];
      const isRefused = ({ fault }: Read) =>
        fault instanceof StorageError && fault.cause === undefined;
      for (let i = 0; i < 80 || i < 400 && !reads.some(isRefused); i++) {
        others.push(read());
        await setTimeout(50);
      }
      await Promise.all(others);
      cluster.resume();
      const hung = reads;
      reads = [];
      for (const { took, fault } of hung) {
        const longest = MAX_WAIT + TIMES.connectTimeout + TIMES.queryTimeout;
        assert.ok(took < longest + SLACK, `${took} ms`);
        if (fault === undefined) continue; // before the pause
        assert.ok(fault instanceof StorageError, String(fault));
        assert.equal(fault.kind, "unavailable");
        assert.ok(fault.retryAfter >= 1);
      }
      const refused = hung.filter(isRefused);
      assert.ok(refused.length > 0);
      for (const { took } of refused) {
        assert.ok(took < MAX_WAIT + SLACK, `refused after ${took} ms`);
      }

      while (reads.filter(({ fault }) => fault === undefined).length < 200) {
        await setTimeout(5);
      }
      isOver = true;
      await Promise.all(callers);
    } finally {
      isOver = true;
      cluster.resume();
      await storage.close();
    }
  },
);
