/** Requests by the thousand from clients that read no answer: others are served, and memory is bounded. */
import assert from "node:assert/strict";
import { Wire } from "../../contract/wire.ts";
import { median } from "../bench/figures.ts";
import {
  assertNoLeak,
  megabytes,
  memoryAtRest,
  untilAtRest,
  WATCHED,
} from "./use.ts";
import { type RunningServer, testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";
import {
  answerTo,
  rawRequest,
  statusOf,
  WITH_KEY,
} from "../../support/wire.ts";

const CLIENTS = 20;
const REQUESTS = 3000;
const PETS = 100;
/** The share of the bytes of all answers by which the memory may grow. */
const MOST_KEPT = 1 / 3;
/** The share of the processor time of the work that `/livez` may wait. */
const LONGEST_WAIT = 1 / 2;

const BODY = `{"name":"${"R".repeat(60)}","categoryId":1}`;
const CREATE = rawRequest("POST /v1/pets", [WITH_KEY], BODY);
const LIVEZ = rawRequest("GET /livez");
const LIST = rawRequest(`GET /v1/pets?limit=${PETS}`, [WITH_KEY]);

for (const runtime of findRuntimes()) {
  const { name } = runtime;
  const onServer = { test: testsOn(runtime, { env: WATCHED }) };
  onServer.test(`${CLIENTS} clients that pipeline lists and read nothing do not stop the server`, async (server) => {
    const { port } = server;
    // So that a list is some KiB.
    for (let i = 0; i < PETS; i++) {
      assert.equal(await statusOf(port, CREATE), 201);
    }
    const size = CLIENTS * REQUESTS *
      (await answerTo(port, LIST)).body.length;
    const before = await memoryAtRest(server, runtime);
    const waits: number[] = [];
    const readings = await assertNoLeak(async () => {
      const clients: Wire[] = [];
      const wait = await longestLivez(server, async () => {
        for (let i = 0; i < CLIENTS; i++) {
          const client = await Wire.open(port);
          clients.push(client);
          client.pause();
          client.write(LIST.repeat(REQUESTS));
        }
        await untilAtRest(server);
      });
      waits.push(wait);
      const memory = await memoryAtRest(server, runtime);
      clients.forEach((client) => client.close());
      return memory;
    });
    const kept = (Math.max(...readings) - before) / size;
    const wait = median(waits);
    console.log(
      `${name}: /livez waits ${wait.toFixed(2)} of the work; ${
        readings.map(megabytes).join(", ")
      } MB, ${kept.toFixed(2)} of ${megabytes(size)} MB`,
    );
    assert.ok(kept < MOST_KEPT, `${kept} of the answers are kept`);
    // Bun answers all it has read of one connection before it looks at the next, and cannot be told otherwise.
    if (name !== "bun") {
      assert.ok(wait < LONGEST_WAIT, `/livez waits ${wait}`);
    }
  });
}

/**
 * Asks for `/livez` again and again on one connection while `work` goes on.
 *
 * @returns the largest share of the server's processor time for all of it that it used while an answer was
 * waited for. Unlike a time in ms, other programs do not lengthen it.
 */
async function longestLivez(
  server: RunningServer,
  work: () => Promise<void>,
): Promise<number> {
  const { port, processorTime } = server;
  const wire = await Wire.open(port);
  const start = processorTime();
  let isOver = false;
  let longest = 0;
  const working = work().finally(() => isOver = true);
  try {
    while (!isOver) {
      const before = processorTime();
      wire.write(LIVEZ);
      const { status } = await wire.answer();
      if (status !== 200) throw new Error(`/livez is ${status}`);
      longest = Math.max(longest, processorTime() - before);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } finally {
    await working;
    wire.close();
  }
  return longest / (processorTime() - start);
}
