/** Requests by the thousand from clients that read no answer: others are served, and memory is bounded. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { longestLivez } from "./clients.ts";
import { testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";
import { rawRequest, statusOf, WITH_KEY } from "../../support/wire.ts";

const CLIENTS = 20;
const REQUESTS = 1500;
const PETS = 100;
/**
 * The longest that `/livez` may take, in ms, and the memory that may grow; all answers are 300 MB. Bun
 * answers what it has read of one connection before it looks at the next, and cannot be told otherwise.
 * Node's collector is late when a machine is busy: the same server was seen to take 35 to 113 MB.
 */
const BOUNDS = {
  deno: { longest: 250, most: 100e6 },
  bun: { longest: 2000, most: 75e6 },
  node: { longest: 250, most: 150e6 },
};
/** Other programs may take the processor away: a server that is wrong is wrong each time. */
const TRIES = 10;
/** The memory has reached its height if it does not grow for so many ms. */
const QUIET = 300;

const BODY = `{"name":"${"R".repeat(60)}","categoryId":1}`;
const CREATE = rawRequest("POST /v1/pets", [WITH_KEY], BODY);
const LIST = rawRequest(`GET /v1/pets?limit=${PETS}`, [WITH_KEY]);

for (const runtime of findRuntimes()) {
  const it = testsOn(runtime);
  it(`${CLIENTS} clients that pipeline lists and read nothing do not stop the server`, async ({ port, memory }) => {
    await fill(port);
    const { longest, most } = BOUNDS[runtime.name];
    const before = memory();
    let wait = Infinity;
    let growth = Infinity;
    for (let i = 0; i < TRIES && (wait >= longest || growth >= most); i++) {
      const clients: Socket[] = [];
      const longestWait = await longestLivez(port, async () => {
        for (let i = 0; i < CLIENTS; i++) clients.push(pipeline(port));
        growth = Math.min(growth, await highest(memory) - before);
      });
      wait = Math.min(wait, longestWait);
      clients.forEach((client) => client.destroy());
    }
    console.log(
      `${runtime.name}: /livez after ${wait} ms at the most, ` +
        `${Math.round(growth / 1e6)} MB more`,
    );
    assert.ok(wait < longest, `/livez waits ${wait} ms`);
    assert.ok(growth < most, `${growth} bytes more`);
  });
}

/** Adds so many pets that a list is some KiB. */
async function fill(port: number): Promise<void> {
  for (let i = 0; i < PETS; i++) {
    assert.equal(await statusOf(port, CREATE), 201);
  }
}

function pipeline(port: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => {}).pause();
  socket.write(LIST.repeat(REQUESTS));
  return socket;
}

/** The most memory until it rises no more. */
async function highest(memory: () => number): Promise<number> {
  let most = 0;
  let risen = performance.now();
  while (performance.now() - risen < QUIET) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = memory();
    if (now <= most) continue;
    most = now;
    risen = performance.now();
  }
  return most;
}
