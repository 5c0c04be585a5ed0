/** Clients that leave at bad moments. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { serve } from "../../../adapters/node/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { Wire } from "../../contract/wire.ts";
import { until } from "../../support/postgres/until.ts";
import { testOnNode as test } from "./on_node.ts";

async function serving(
  use: (port: number, count: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const storage = memoryStorage();
  const handle = createHandler({ storage, keys: apiKeys(["secret"]) });
  const server = await serve(handle, { port: 0 });
  try {
    await use(
      server.port,
      async () => (await storage.list({ limit: 9 })).pets.length,
    );
  } finally {
    await server.close();
  }
}

test("a client that resets its CONNECT does not end the process", async () => {
  await serving(async (port) => {
    for (let i = 0; i < 30; i++) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n");
      const reset = () => setImmediate(() => socket.resetAndDestroy());
      socket.once("connect", reset);
      await closed;
    }
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/pets`);
    assert.equal(status, 401);
  });
});

test("a create behind an answer that closes the connection is not carried out", async () => {
  await serving(async (port, count) => {
    const head =
      "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n";
    const wire = await Wire.open(port, head);
    wire.write(
      "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const isClosing = () => /connection: close/i.test(wire.received);
    await until("an answer", isClosing);
    const body = '{"name":"Rex","categoryId":1}';
    wire.write(
      `3\r\nabc\r\n0\r\n\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.match(await wire.rest(), /^HTTP\/1\.1 415 /);
    assert.equal(wire.received.split("HTTP/1.1 ").length, 2);
    assert.equal(await count(), 0);
  });
});
