/** Clients that leave at bad moments. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { until } from "../../support/postgres/until.ts";
import { testOnNode } from "./on_node.ts";

async function serving(
  use: (port: number, count: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const { serve } = await import("../../../adapters/node/mod.ts");
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

testOnNode(
  "a client that resets its CONNECT does not end the process",
  () =>
    serving(async (port) => {
      for (let i = 0; i < 30; i++) {
        const socket = connect(port, "127.0.0.1");
        socket.on("error", () => {});
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n");
        socket.once(
          "connect",
          () => setImmediate(() => socket.resetAndDestroy()),
        );
        await closed;
      }
      const { status } = await fetch(`http://127.0.0.1:${port}/v1/pets`);
      assert.equal(status, 401);
    }),
);

testOnNode(
  "a create behind an answer that closes the connection is not carried out",
  () =>
    serving(async (port, count) => {
      const socket = connect(port, "127.0.0.1");
      let received = "";
      socket.setEncoding("utf8").on("data", (text) => received += text);
      const head =
        "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n";
      socket.write(
        `${head}Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      await until("an answer", () => /connection: close/i.test(received));
      const body = '{"name":"Rex","categoryId":1}';
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(
        `3\r\nabc\r\n0\r\n\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      await closed;
      assert.match(received, /^HTTP\/1\.1 415 /);
      assert.equal(received.split("HTTP/1.1 ").length, 2);
      assert.equal(await count(), 0);
    }),
);
