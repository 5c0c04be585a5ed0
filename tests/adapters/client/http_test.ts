/**
 * The client, and the example for its developers, over real HTTP on the runtime that runs the
 * tests.
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import test, { type TestContext } from "node:test";
import {
  type ClientOptions,
  createClient,
} from "../../../adapters/client/mod.ts";
import { toHandler } from "../../../core/handler.ts";
import type { Service } from "../../../core/answer.ts";
import { placeExample } from "../../support/examples.ts";
import { pathOf } from "../../support/repository.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";
import { atEnd } from "../../support/at_end.ts";
import { run } from "../../support/process.ts";
import { listen, listenOn } from "../../support/server.ts";
import { commandLine } from "../../support/runtime.ts";
import { failure, inProcess, KEY } from "./scripted.ts";

/** Serves a service, and returns its base address. */
async function baseUrlOf(t: TestContext, service: Service): Promise<string> {
  const server = await listen(t, toHandler(service), { onError: () => {} });
  return `${server.url}/v1`;
}

function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl, key: KEY, ...options });
}

test("createPet sends Content-Type and Content-Length", async (t) => {
  const { handle } = inProcess();
  const fields: (string | null)[] = [];
  const baseUrl = await baseUrlOf(t, (request, ...rest) => {
    fields.push(request.headers.get("content-type"));
    fields.push(request.headers.get("content-length"));
    return handle.answer(request, ...rest);
  });
  await clientOf(baseUrl).createPet({ name: "Zoë", categoryId: 1n });
  assert.deepEqual(fields, ["application/json", "30"]);
});

test("a redirect over HTTP is not followed, and the key stays", async (t) => {
  const asked: (string | null)[] = [];
  const location = await baseUrlOf(t, async (request) => {
    asked.push(request.headers.get("authorization"));
    return { status: 200, headers: {}, body: "[]" };
  });
  for (const status of [301, 302, 307, 308]) {
    const answer = { status, headers: { location }, body: null };
    const client = clientOf(await baseUrlOf(t, async () => answer));
    const read = await failure(client.listPets());
    assert.equal(read.code, "http_error", `${status}`);
    assert.equal(read.status, status);
    await failure(client.createPet({ name: "Rex", categoryId: 1n }));
  }
  assert.deepEqual(asked, []);
});

test("a create whose connection breaks is sent once", async (t) => {
  // Answers a request without a body with no pets, and keeps the connection; breaks it if a pet
  // arrives.
  const created: string[] = [];
  const server = createServer((socket) => {
    atEnd(t, () => socket.destroy());
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
  const baseUrl = `http://127.0.0.1:${await listenOn(t, server)}/v1`;
  const client = clientOf(baseUrl, { idempotentCreates: false });
  for (const categoryId of [1n, 2n, 3n]) {
    await client.listPets(); // so that there is a connection to use again
    const error = await failure(client.createPet({ name: "Rex", categoryId }));
    assert.equal(error.code, "network_error", `${categoryId}`);
    assert.equal(error.uncertain, true, `${categoryId}`);
  }
  assert.deepEqual(
    created,
    [1, 2, 3].map((id) => `{"name":"Rex","categoryId":${id}}`),
  );
});

test("a server that sends 103s for ever loses its connection at the timeout", async (t) => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const hints = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100);
    const timer = setInterval(() => socket.write(hints), 1);
    atEnd(t, () => clearInterval(timer));
    atEnd(t, () => socket.destroy());
    socket.on("error", () => {}).on("close", () => {
      clearInterval(timer);
      closed.resolve();
    }).resume();
  });
  const baseUrl = `http://127.0.0.1:${await listenOn(t, server)}/v1`;
  const client = clientOf(baseUrl, { timeout: 2000, retries: 0 });
  const { code } = await failure(client.listPets());
  assert.equal(code, "timeout");
  await closed.promise;
});

const example = placeExample("client.ts", temporaryDirectory());

/** Runs the example on the runtime that runs the tests. */
function runExample(PETSTORE_URL: string, PETSTORE_KEY: string) {
  const config = pathOf("deno.json");
  const flags = ["--quiet", "--no-prompt", "--allow-env", "--allow-net"];
  return run(commandLine(example, [...flags, "--config", config]), {
    env: { PETSTORE_URL, PETSTORE_KEY },
  });
}

test("the example adds a pet and lists those that are available", async (t) => {
  const { handle, client } = inProcess();
  await client.createPet({ name: "Tom", categoryId: 1n });
  await client.createPet({ name: "Kit", categoryId: 1n, status: "sold" });
  const baseUrl = await baseUrlOf(t, handle.answer);
  const added = "Added Rex as number 3\n";
  const listed = "1 Tom, category 1\n3 Rex, category 9007199254740993\n";
  assert.deepEqual(await runExample(baseUrl, KEY), {
    code: 0,
    stdout: added + listed,
    stderr: "",
  });
});

test("the example ends with 1, and says why, if its key is wrong", async (t) => {
  const baseUrl = await baseUrlOf(t, inProcess().handle.answer);
  const { code, stdout, stderr } = await runExample(baseUrl, "guess");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /API key is invalid: it is unknown, expired or revoked/);
});
