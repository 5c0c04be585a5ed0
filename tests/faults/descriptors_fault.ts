/** More connections than the server may have descriptors: it goes on, or ends so that it is started again. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import test from "node:test";
import { Wire } from "../contract/wire.ts";
import {
  CANNOT_WATCH,
  type Standalone,
  withStandalone,
} from "../support/servers/standalone.ts";
import { findRuntimes } from "../support/servers/start.ts";

const MAX_DESCRIPTORS = 200;
const CONNECTIONS = 400;
const PATIENCE = 10_000;
const LIVEZ = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

for (const runtime of findRuntimes()) {
  test(
    `${runtime.name}: a server out of descriptors serves those who are connected, and everybody afterwards`,
    { skip: runtime.missing ?? CANNOT_WATCH },
    async () => {
      const options = { maxDescriptors: MAX_DESCRIPTORS };
      await withStandalone(runtime, options, async (server) => {
        const early = await Wire.open(server.port);
        assert.equal(await livez(early), 200);
        for (let round = 0; round < 2; round++) {
          const flood = connectMany(server.port);
          await until(() => server.descriptors() >= MAX_DESCRIPTORS - 2);
          assert.equal(await livez(early), 200);
          flood.forEach((socket) => socket.destroy());
          await until(() => server.descriptors() < MAX_DESCRIPTORS / 2);
          await untilServed(server.port);
        }
        early.close();
        const reports = server.stderr().match(/Cannot accept connections/g);
        assert.equal(reports?.length ?? 0, runtime.name === "deno" ? 1 : 0);
      });
    },
  );
}

for (const program of ["serve", "parallel"] as const) {
  for (const runtime of findRuntimes().filter(({ name }) => name === "deno")) {
    test(
      `deno serve (${program}) out of descriptors ends with a code that has a supervisor start it again`,
      { skip: runtime.missing ?? CANNOT_WATCH },
      async () => {
        const options = { program, maxDescriptors: MAX_DESCRIPTORS };
        await withStandalone(runtime, options, async (server) => {
          const flood = connectMany(server.port);
          assert.equal(await endOf(server), 1);
          flood.forEach((socket) => socket.destroy());
        });
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

async function untilServed(port: number): Promise<void> {
  let status = 0;
  await until(async () => {
    try {
      const wire = await Wire.open(port);
      status = await livez(wire);
      wire.close();
    } catch {
      return false; // it does not listen again yet
    }
    return status === 200;
  });
}

async function until(
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  while (!await condition()) {
    assert.ok(Date.now() < deadline, "it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function endOf({ exited }: Standalone): Promise<number | null> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("It goes on")),
    PATIENCE,
  );
  try {
    return await Promise.race([exited, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
