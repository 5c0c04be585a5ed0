/** The client over real HTTP, on the runtime that runs the tests. */
import assert from "node:assert/strict";
import { createServer as createTcpServer, type Socket } from "node:net";
import test from "node:test";
import {
  type ClientOptions,
  createClient,
} from "../../../adapters/client/mod.ts";
import { inProcess, KEY } from "./in_process.ts";
import { failure } from "./scripted.ts";
import { serving } from "./serving.ts";

function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl, key: KEY, ...options });
}

test("the client and the service agree over HTTP, to the last digit", async () => {
  await serving(inProcess().handle, async (baseUrl) => {
    const client = clientOf(baseUrl);
    const rex = { name: "Zoë 🐕", status: "pending" } as const;
    for (const categoryId of [-(2n ** 63n), 2n ** 53n + 1n]) {
      const created = await client.createPet({ ...rex, categoryId });
      assert.deepEqual(created, { ...rex, categoryId, id: created.id });
      assert.deepEqual(await client.getPet(created.id), created);
    }
    const { pets, next } = await client.listPets({ limit: 1 });
    assert.deepEqual(pets.map(({ id }) => id), [1n]);
    assert.equal(next, `${baseUrl}/pets?limit=1&after=1`);
    const stranger = clientOf(baseUrl, { key: "guess" });
    assert.equal((await failure(stranger.listPets())).code, "unauthorized");
  });
});

test("a redirect over HTTP is not followed, and the key stays", async () => {
  const asked: (string | null)[] = [];
  await serving((request) => {
    asked.push(request.headers.get("authorization"));
    return new Response("[]");
  }, async (elsewhere) => {
    for (const status of [301, 302, 307, 308]) {
      await serving(
        () => new Response(null, { status, headers: { location: elsewhere } }),
        async (baseUrl) => {
          const client = clientOf(baseUrl);
          const read = await failure(client.listPets());
          assert.equal(read.code, "http_error");
          assert.equal(read.status, status);
          await failure(client.createPet({ name: "Rex", categoryId: 1n }));
        },
      );
    }
  });
  assert.deepEqual(asked, []);
});

test("a create whose connection breaks is sent once", async () => {
  // Answers what has no body with no pets, and keeps the connection; breaks it if a pet comes.
  const created: string[] = [];
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    let received = "";
    socket.on("error", () => {}).on("data", (chunk) => {
      received += chunk;
      const [head = "", ...rest] = received.split("\r\n\r\n");
      const body = rest.join("\r\n\r\n");
      if (head.startsWith("POST")) {
        if (!body.includes("}")) return;
        created.push(body);
        socket.destroy();
      } else if (rest.length > 0) {
        received = "";
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]");
      }
    });
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve())
  );
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const client = clientOf(`http://127.0.0.1:${address.port}/v1`, {
    idempotentCreates: false,
  });
  for (const categoryId of [1n, 2n, 3n]) {
    await client.listPets(); // so that there is a connection to use again
    const error = await failure(client.createPet({ name: "Rex", categoryId }));
    assert.equal(error.code, "network_error");
    assert.equal(error.uncertain, true);
  }
  assert.deepEqual(
    created,
    [1, 2, 3].map((id) => `{"name":"Rex","categoryId":${id}}`),
  );
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test("a create tells its media type and, beforehand, its length", async () => {
  const { handle } = inProcess();
  const fields: (string | null)[] = [];
  await serving((request) => {
    fields.push(request.headers.get("content-type"));
    fields.push(request.headers.get("content-length"));
    return handle(request);
  }, async (baseUrl) => {
    await clientOf(baseUrl).createPet({ name: "Zoë", categoryId: 1n });
  });
  assert.deepEqual(fields, ["application/json", "30"]);
});
