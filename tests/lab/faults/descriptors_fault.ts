/** More connections than the server may have descriptors: it goes on, or ends so that it is started again. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { Wire } from "../../contract/wire.ts";
import { until } from "../../support/time.ts";
import { testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";

const MAX_DESCRIPTORS = 200;
const CONNECTIONS = 400;
const PATIENCE = 10_000;
const LIVEZ = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

const options = { maxDescriptors: MAX_DESCRIPTORS };

for (const runtime of findRuntimes()) {
  const isDeno = runtime.name === "deno";
  const it = testsOn(runtime, options);
  it("a server out of descriptors serves those who are connected, and everybody afterwards", async (server) => {
    const early = await Wire.open(server.port);
    assert.equal(await livez(early), 200);
    for (let round = 0; round < 2; round++) {
      const flood = connectMany(server.port);
      await until(
        "all descriptors are taken",
        () => server.descriptors() >= MAX_DESCRIPTORS - 2,
        PATIENCE,
      );
      assert.equal(await livez(early), 200);
      flood.forEach((socket) => socket.destroy());
      await until(
        "they are free again",
        () => server.descriptors() < MAX_DESCRIPTORS / 2,
        PATIENCE,
      );
      await until("it serves", () => isServed(server.port), PATIENCE);
    }
    early.close();
    const reports = server.stderr().match(/Cannot accept connections/g);
    assert.equal(reports?.length ?? 0, isDeno ? 1 : 0);
  });

  for (const program of isDeno ? ["serve", "parallel"] as const : []) {
    testsOn(runtime, { ...options, program })(
      `deno serve (${program}) out of descriptors ends with a code that has a supervisor start it again`,
      async ({ port, exited }) => {
        const flood = connectMany(port);
        let code: number | null | undefined;
        exited.then((ended) => code = ended);
        await until("it ends", () => code !== undefined, PATIENCE);
        assert.equal(code, 1);
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

async function isServed(port: number): Promise<boolean> {
  try {
    const wire = await Wire.open(port);
    const status = await livez(wire);
    wire.close();
    return status === 200;
  } catch {
    return false; // it does not listen again yet
  }
}
