/**
 * 10,000 idle connections beside 64 busy ones, and the busy ones alone for a while: memory, descriptors
 * and processor time are compared with those of the same server before. Needs `ulimit -n 12000`. Run by
 * `deno test -A --config tests/deno.json tests/lab/faults/soak_long.ts`; `SOAK_SECONDS` makes it longer.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import process from "node:process";
import { Wire } from "../../contract/wire.ts";
import { assertNoLeak, megabytes, memoryAtRest, WATCHED } from "./use.ts";
import { findRuntimes, skipping } from "../../support/runtime.ts";
import { type RunningServer, testsOn } from "../../support/standalone.ts";
import { until } from "../../support/time.ts";
import { REX_JSON } from "../../support/pets.ts";
import { rawRequest, statusOf, WITH_KEY } from "../../support/wire.ts";

const IDLE = 10_000;
const BUSY = 64;
const SECONDS = Number(process.env.SOAK_SECONDS ?? 60);
/** The number of connections that are opened at a time. */
const BATCH = 500;
/** With all the idle ones, and while they are there. Less than Node and Bun leave a silent client, in s. */
const BESIDE_IDLE = 5;
const WARM_UP = 10;
/** The most memory beside the idle connections, in proportion to that before. */
const MOST_MEMORY = 3;
/** The most processor time of a request beside them, in proportion to that before. */
const MOST_TIME = 2;
/** The memory is read so many times, or more until it is sure. */
const READINGS = 12;

const enough = Number(execFileSync("sh", ["-c", "ulimit -n"])) >= IDLE + 2000;
const skip = skipping(!enough && `ulimit -n is below ${IDLE + 2000}`);

/** Requests that change no pet, and the statuses of their answers. */
const REQUESTS = [
  [rawRequest("GET /v1/pets?limit=5", [WITH_KEY]), 200],
  [rawRequest("GET /v1/pets/1", [WITH_KEY]), 200],
  [rawRequest("GET /v1/pets/2", [WITH_KEY]), 404],
  [rawRequest("GET /v1/pets", ["Authorization: Bearer no"]), 401],
  [rawRequest("POST /v1/pets", [WITH_KEY], "{}"), 400],
  [rawRequest("POST /v1/pets", [WITH_KEY], " ".repeat(600)), 400],
  [rawRequest("GET /livez"), 200],
] as const;

for (const runtime of findRuntimes()) {
  const { name } = runtime;
  const onServer = { test: testsOn(runtime, { skip, env: WATCHED }) };

  onServer.test(`${BUSY} clients go on beside ${IDLE} idle ones`, async (server) => {
    await warmUp(server);
    const before = await timeOfRequest(server);
    const memory = await memoryAtRest(server, runtime);
    const descriptors = server.descriptors();
    const idle = await connectMany(server.port);
    const taken = server.memory() / memory;
    const held = server.descriptors() - descriptors;
    const time = await timeOfRequest(server) / before;
    idle.forEach((wire) => wire.close());
    console.log(
      `${name}: beside ${held} idle connections ${time.toFixed(2)} times ` +
        `the time and ${taken.toFixed(1)} times the memory`,
    );
    assert.ok(held > 0.9 * IDLE);
    assert.ok(time < MOST_TIME, `${time} times the time`);
    assert.ok(taken < MOST_MEMORY, `${taken} times the memory`);
    await assertFreed(server, descriptors);
  });

  onServer.test(`${SECONDS} s of requests leave neither memory nor descriptors behind`, async (server) => {
    await warmUp(server);
    const descriptors = server.descriptors();
    let count = 0;
    const readings = await assertNoLeak(async () => {
      count += await load(server, SECONDS / READINGS);
      return await memoryAtRest(server, runtime);
    });
    const memory = readings.map(megabytes).join(", ");
    console.log(`${name}: ${count} requests, ${memory} MB`);
    await assertFreed(server, descriptors);
    assert.equal(server.stderr().match(/error/i), null);
  });
}

/** Adds the one pet, and has the runtime compile what it compiles. */
async function warmUp(server: RunningServer): Promise<void> {
  const create = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);
  assert.equal(await statusOf(server.port, create), 201);
  await load(server, WARM_UP);
}

/** Waits until a server has noticed which clients are gone. */
async function assertFreed(
  server: RunningServer,
  descriptors: number,
): Promise<void> {
  await until(
    "the descriptors are free again",
    () => server.descriptors() <= descriptors + 5,
  );
}

async function connectMany(port: number): Promise<readonly Wire[]> {
  const wires: Wire[] = [];
  while (wires.length < IDLE) {
    const batch = Array.from({ length: BATCH }, () => Wire.open(port));
    wires.push(...await Promise.all(batch));
  }
  return wires;
}

/** The processor time of a request to a busy server, in ms. */
async function timeOfRequest(server: RunningServer): Promise<number> {
  const before = server.processorTime();
  const count = await load(server, BESIDE_IDLE);
  return (server.processorTime() - before) / count;
}

/** Keeps connections busy, each with one request after the other; returns how many were answered. */
async function load({ port }: RunningServer, seconds: number): Promise<number> {
  const end = performance.now() + 1000 * seconds;
  let count = 0;
  await Promise.all(Array.from({ length: BUSY }, async (_, client) => {
    const wire = await Wire.open(port);
    for (let i = client; performance.now() < end; i++) {
      const [request, status] = REQUESTS[i % REQUESTS.length] ?? REQUESTS[0];
      wire.write(request);
      assert.equal((await wire.answer()).status, status, request);
      count++;
    }
    wire.close();
  }));
  return count;
}
