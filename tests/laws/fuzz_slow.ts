/**
 * The laws of `openapi_test.ts` and `any_request_test.ts` with very many requests, on all cores:
 * `deno task test:fuzz` sends a million. Each round has a seed of its own, which a failure names.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { fc, patience, runs } from "../support/property.ts";
import type { Round } from "./fuzz_worker.ts";

const ROUND = 10_000;
const { numRuns: requests } = runs(20_000);
const { seed = Date.now() % 2 ** 31 } = fc.readConfigureGlobal();

test(
  "no request among very many gets a 5xx, or an answer that its operation does not declare",
  { timeout: 5 * patience(20_000) },
  async () => {
    const rounds: Round[] = [];
    for (let sent = 0; sent < requests; sent += ROUND) {
      const numRuns = Math.min(ROUND, requests - sent);
      rounds.push({ seed: (seed + rounds.length) | 0, numRuns });
    }
    let held = 0;
    await Promise.all(Array.from({ length: availableParallelism() }, work));
    assert.equal(held, requests);

    async function work(): Promise<void> {
      const worker = new Worker(new URL("fuzz_worker.ts", import.meta.url));
      try {
        for (let next = rounds.shift(); next; next = rounds.shift()) {
          worker.postMessage(next);
          const [problem] = await once(worker, "message");
          assert.equal(problem, undefined, problem);
          held += next.numRuns;
        }
      } finally {
        await worker.terminate();
      }
    }
  },
);
