/** Silent and dripping clients are ended in time. Deno ends none: see `nginx_fault.ts`. */
import assert from "node:assert/strict";
import { drip, type Dripping } from "./clients.ts";
import { testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";
import { openWire, rawRequest, WITH_KEY } from "../../support/wire.ts";

const POST = "POST /v1/pets";
const LIVEZ = rawRequest("GET /livez");
/** Deno is watched for so many ms: longer than its body deadline. */
const DENO_PATIENCE = 15_000;
const PATIENCE = 80_000;

/** The bytes that are sent, the status of the answer, and the seconds until the connection ends. */
interface Case extends Dripping {
  /** Default: 408 on Node, which says why it closes, and none on the others. */
  readonly status?: number;
  readonly seconds: { readonly bun: number; readonly node: number };
}

const CASES: Readonly<Record<string, Case>> = {
  "a silent connection": {
    sent: "",
    seconds: { bun: 12, node: 11 },
  },
  "a header that drips": {
    sent: LIVEZ.slice(0, -4), // the end of Host
    drop: "y",
    seconds: { bun: 12, node: 11 },
  },
  "an idle connection": {
    sent: LIVEZ,
    status: 200,
    seconds: { bun: 32, node: 66 },
  },
  "a body that drips on after 401": {
    sent: rawRequest(POST, ["Content-Length: 60000"]),
    drop: " ",
    status: 401,
    seconds: { bun: 32, node: 10 },
  },
  "a body that drips on after 413": {
    sent: rawRequest(POST, [WITH_KEY, "Content-Length: 600000"]),
    drop: " ",
    status: 413,
    seconds: { bun: 32, node: 1 },
  },
  "a create that drips": {
    sent: rawRequest(POST, [WITH_KEY, "Content-Length: 60000"]),
    drop: " ",
    status: 408,
    seconds: { bun: 40, node: 11 },
  },
};

/** Longer than any deadline of an answered body, in ms. */
const LASTING = 13_000;

for (const runtime of findRuntimes()) {
  const { name } = runtime;
  const isDeno = name === "deno";
  const skip = isDeno && "Deno closes some of them as it pleases";
  testsOn(runtime, { skip })(
    "a connection on which refused creates follow each other is not closed",
    async (server, t) => {
      await Promise.all(
        [
          [rawRequest(POST, [WITH_KEY], "{}"), 400],
          [rawRequest(POST, [], "{}"), 401],
          [rawRequest(POST, [], " ".repeat(600)), 401],
        ].map(async ([request, status]) => {
          const wire = await openWire(t, server);
          const end = performance.now() + LASTING;
          while (performance.now() < end) {
            wire.write(`${request}`);
            assert.equal((await wire.answer()).status, status);
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }),
      );
    },
  );

  const fate = isDeno ? "never closed" : "closed in time";
  testsOn(runtime)(
    `silent and dripping clients are ${fate}, with at most one answer`,
    async ({ port }) => {
      const patience = isDeno ? DENO_PATIENCE : PATIENCE;
      await Promise.all(
        Object.entries(CASES).map(async ([what, one]) => {
          const { statuses, seconds } = await drip(port, one, patience);
          const silent = name === "node" ? [408] : [];
          assert.deepEqual(statuses, one.status ? [one.status] : silent, what);
          if (name === "deno") {
            assert.equal(seconds, undefined, `${what} was closed`);
            return;
          }
          assert.ok(seconds !== undefined, `${what} lives on`);
          console.log(
            `${name}: ${what} is closed after ${seconds.toFixed()} s`,
          );
          const usual = one.seconds[name];
          assert.ok(seconds > usual / 2, `${what}: only ${seconds} s`);
          // Some seconds more: Bun looks every four, Node every one, and a machine may stall.
          assert.ok(seconds < usual + 8, `${what}: ${seconds} s`);
        }),
      );
    },
  );
}
