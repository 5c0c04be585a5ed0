/**
 * More connections than the server may have descriptors: it continues, or exits so that it is
 * restarted.
 */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import type { Wire } from "../../contract/wire.ts";
import { until } from "../../support/time.ts";
import { startServe, testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";
import { openWire, rawRequest, untilServed } from "../../support/wire.ts";

const MAX_DESCRIPTORS = 200;
const CONNECTIONS = 400;
const LIVEZ = rawRequest("GET /livez");

const prefix = ["sh", "-c", `ulimit -n ${MAX_DESCRIPTORS}; exec "$@"`, "sh"];

for (const runtime of findRuntimes()) {
  const isDeno = runtime.name === "deno";
  const onServer = { test: testsOn(runtime, { prefix }) };
  onServer.test(
    "a server out of descriptors serves who is connected, and afterwards everybody",
    async (server, t) => {
      const start = performance.now();
      const early = await openWire(t, server);
      assert.equal(await livez(early), 200);
      for (let round = 0; round < 2; round++) {
        const flood = connectMany(server.port);
        await until(
          "all descriptors are taken",
          () => server.descriptors() >= MAX_DESCRIPTORS - 2,
        );
        assert.equal(await livez(early), 200);
        flood.forEach((socket) => socket.destroy());
        await until(
          "they are free again",
          () => server.descriptors() < MAX_DESCRIPTORS / 2,
        );
        await untilServed(server.port, LIVEZ);
      }
      const { length } = [...server.stderr().matchAll(/Cannot accept/g)];
      const most = 1 + (performance.now() - start) / 10_000;
      assert.ok(isDeno ? length > 0 && length <= most : length === 0);
    },
  );

  for (const parallel of isDeno ? [false, true] : []) {
    const start: typeof startServe = (t, options) =>
      startServe(t, { ...options, parallel });
    testsOn(runtime, { prefix, start })(
      `deno serve${
        parallel ? " --parallel" : ""
      } out of descriptors ends with code 1`,
      async ({ port, exited }) => {
        const flood = connectMany(port);
        let code: number | null | undefined;
        exited.then((ended) => code = ended);
        await until("it ends", () => code !== undefined);
        assert.equal(code, 1); // so that a supervisor starts it again
        flood.forEach((socket) => socket.destroy());
      },
    );
  }
}

/** Opens connections that send nothing. */
function connectMany(port: number): readonly Socket[] {
  return Array.from(
    { length: CONNECTIONS },
    () => connect(port, "127.0.0.1").on("error", () => {}),
  );
}

async function livez(wire: Wire): Promise<number> {
  wire.write(LIVEZ);
  return (await wire.answer()).status;
}
