/**
 * 10,000 idle connections beside 64 busy ones, and the busy ones alone for a while: memory and
 * descriptors are read at both ends. Needs `ulimit -n 12000`. Run by
 * `deno test -A --config tests/deno.json tests/lab/faults/soak_long.ts`; `SOAK_SECONDS` makes it longer.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { Wire } from "../../contract/wire.ts";
import { findRuntimes, skipping } from "../../support/runtime.ts";
import { type RunningServer, testsOn } from "../../support/standalone.ts";
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
const MOST_MEMORY = 75e6;
/** For an idle connection, in bytes. */
const MOST_PER_CONNECTION = 50_000;
const LONGEST = 2000;
const QUIET = 500;

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
  const it = testsOn(runtime, { skip });

  it(`${BUSY} clients go on beside ${IDLE} idle ones`, async (server) => {
    await warmUp(server);
    const before = await use(server);
    const idle = await connectMany(server.port);
    const { rate, longest } = await load(server, BESIDE_IDLE);
    const memory = (server.memory() - before.memory) / IDLE;
    const held = server.descriptors() - before.descriptors;
    idle.forEach((socket) => socket.destroy());
    console.log(
      `${name}: beside ${held} idle connections ${rate} requests/s, ` +
        `the slowest ${longest} ms; ${
          Math.round(memory / 1000)
        } KB a connection`,
    );
    assert.ok(held > 0.9 * IDLE);
    assert.ok(longest < LONGEST, `one took ${longest} ms`);
    assert.ok(memory < MOST_PER_CONNECTION);
    const after = await use(server);
    assert.ok(after.descriptors <= before.descriptors + 5);
  });

  it(`${SECONDS} s of requests leave neither memory nor descriptors behind`, async (server) => {
    await warmUp(server);
    const before = await use(server);
    const { count, longest } = await load(server, SECONDS);
    const after = await use(server);
    console.log(
      `${name}: ${count} requests in ${SECONDS} s, the slowest ${longest} ms; ` +
        `memory ${mb(before)} -> ${mb(after)} MB, ` +
        `descriptors ${before.descriptors} -> ${after.descriptors}`,
    );
    assert.ok(after.memory - before.memory < MOST_MEMORY);
    assert.ok(after.descriptors <= before.descriptors + 5);
    assert.equal(server.stderr().match(/error/i), null);
  });
}

/** Adds the one pet, and has the runtime compile what it compiles. */
async function warmUp(server: RunningServer): Promise<void> {
  const create = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);
  assert.equal(await statusOf(server.port, create), 201);
  await load(server, WARM_UP);
}

interface Use {
  readonly memory: number;
  readonly descriptors: number;
}

/** Measures a server once nothing changes any more: it has noticed which clients are gone. */
async function use(server: RunningServer): Promise<Use> {
  let descriptors = -1;
  while (server.descriptors() !== descriptors) {
    descriptors = server.descriptors();
    await new Promise((resolve) => setTimeout(resolve, QUIET));
  }
  return { memory: server.memory(), descriptors };
}

function mb({ memory }: Use): number {
  return Math.round(memory / 1e6);
}

async function connectMany(port: number): Promise<readonly Socket[]> {
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(socket));
      socket.on("error", reject);
    });
  const sockets: Socket[] = [];
  while (sockets.length < IDLE) {
    sockets.push(...await Promise.all(Array.from({ length: BATCH }, open)));
  }
  return sockets;
}

/** Keeps connections busy, each with one request after the other. */
async function load(
  { port }: RunningServer,
  seconds: number,
): Promise<{ count: number; rate: number; longest: number }> {
  const end = performance.now() + 1000 * seconds;
  let count = 0;
  let longest = 0;
  await Promise.all(Array.from({ length: BUSY }, async (_, client) => {
    const wire = await Wire.open(port);
    for (let i = client; performance.now() < end; i++) {
      const [request, status] = REQUESTS[i % REQUESTS.length] ?? REQUESTS[0];
      const sent = performance.now();
      wire.write(request);
      assert.equal((await wire.answer()).status, status, request);
      longest = Math.max(longest, performance.now() - sent);
      count++;
    }
    wire.close();
  }));
  return {
    count,
    rate: Math.round(count / seconds),
    longest: Math.round(longest),
  };
}
