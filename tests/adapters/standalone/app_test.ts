import assert from "node:assert/strict";
import { test } from "node:test";
import type { Docs } from "../../../adapters/docs/mod.ts";
import { createApp } from "../../../adapters/standalone/app.ts";
import type { RequestLine } from "../../../adapters/standalone/log.ts";
import { createResponder } from "../../../core/handler.ts";
import { createRouter } from "../../../core/http/route.ts";
import { apiKeys, memoryStorage, type PetStorage } from "../../../mod.ts";

interface Options {
  readonly storage?: PetStorage;
  readonly docs?: Docs;
}

function open({ storage = memoryStorage(), docs }: Options = {}) {
  const lines: RequestLine[] = [];
  const faults: { readonly cause: unknown; readonly id: string | undefined }[] =
    [];
  const app = createApp({
    createHandler: (onError, makeResponse) =>
      createResponder(
        { storage, keys: apiKeys(["secret"]), onError },
        makeResponse,
      ),
    template: createRouter("/v1").template,
    docs,
    storage,
    log: {
      request: (line) => void lines.push(line),
      fault: (cause, id) => void faults.push({ cause, id }),
      flush() {},
    },
    Response,
  });
  return { app, lines, faults };
}

function get(
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Request {
  return new Request(`http://localhost${path}`, {
    method,
    headers: { authorization: "Bearer secret", ...headers },
  });
}

function broken(reason: Error): PetStorage {
  const fail = () => Promise.reject(reason);
  return { create: fail, get: fail, list: fail, ping: fail, close: fail };
}

test("the app returns a well-formed X-Request-Id as it was sent", async () => {
  const { app } = open();
  const response = await app.fetch(
    get("/v1/pets", { "x-request-id": "trace-1.a_b~" }),
  );
  assert.equal(response.headers.get("x-request-id"), "trace-1.a_b~");
});

test("the app gives every response an X-Request-Id, whoever made it", async () => {
  const { app } = open({
    docs: (request) =>
      Promise.resolve(
        new URL(request.url).pathname === "/docs"
          ? new Response("page")
          : undefined,
      ),
  });
  const requests = [
    ["/docs"],
    ["/livez"],
    ["/readyz"],
    ["/livez", "POST"],
    ["/v1/pets"],
    ["/v1/pets", "HEAD"],
    ["/v1/pets", "OPTIONS"],
    ["/v1/pets", "PUT"],
    ["/v1/pets?limit=0"],
    ["/v1/pets/1"],
    ["/v1/openapi.json"],
    ["/nowhere"],
  ] as const;
  for (const [path, method] of requests) {
    const request = get(path, { "x-request-id": "trace" }, method);
    const { headers } = await app.fetch(request);
    assert.equal(headers.get("x-request-id"), "trace", `${method} ${path}`);
  }
  await app.drain();
  const late = await app.fetch(get("/v1/pets", { "x-request-id": "late" }));
  assert.equal(late.status, 503);
  assert.equal(late.headers.get("x-request-id"), "late");
});

for (const id of ["", "two words", "a\tb", "<script>", "x".repeat(129), "ä"]) {
  test(`the app makes an id of its own where X-Request-Id is ${JSON.stringify(id)}`, async () => {
    const { app } = open();
    const response = await app.fetch(get("/v1/pets", { "x-request-id": id }));
    assert.match(
      response.headers.get("x-request-id") ?? "",
      /^[0-9a-f]{8}-[0-9a-f-]{27}$/,
    );
  });
}

test("the app logs method, route template, status, time and id, and nothing else", async () => {
  const { app, lines } = open();
  await app.fetch(get("/v1/pets/7?secret=1", { "x-request-id": "r1" }));
  const [line, ...more] = lines;
  assert.ok(line !== undefined);
  assert.deepEqual(more, []);
  const { time, ms, ...rest } = line;
  assert.deepEqual(rest, {
    method: "GET",
    route: "/v1/pets/{petId}",
    status: 404,
    id: "r1",
  });
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
  assert.ok(ms >= 0);
});

test("the app logs no route for a path that it does not have", async () => {
  const { app, lines } = open();
  await app.fetch(get("/v1/pets/7/secret"));
  assert.equal(lines[0]?.route, null);
  assert.equal(lines[0]?.status, 404);
});

test("the app logs a fault with the id that the client was given", async () => {
  const reason = new Error("no such table");
  const { app, faults } = open({ storage: broken(reason) });
  const response = await app.fetch(get("/v1/pets"));
  assert.equal(response.status, 500);
  assert.deepEqual(faults, [{
    cause: reason,
    id: response.headers.get("x-request-id") ?? "",
  }]);
});

test("livez answers 200 without a key, whatever the storage does", async () => {
  const { app } = open({ storage: broken(new Error("gone")) });
  const response = await app.fetch(new Request("http://localhost/livez"));
  assert.equal(response.status, 200);
  assert.equal(await response.text(), '{"status":"ok"}');
});

test("readyz answers 200 without a key where the storage answers", async () => {
  const { app } = open();
  assert.equal(
    (await app.fetch(new Request("http://localhost/readyz"))).status,
    200,
  );
});

test("readyz answers 503 with an Error body where the storage does not, and logs why", async () => {
  const reason = new Error("gone");
  const { app, faults } = open({ storage: broken(reason) });
  const response = await app.fetch(get("/readyz"));
  assert.equal(response.status, 503);
  assert.equal(response.headers.get("retry-after"), "1");
  assert.equal((await response.json()).code, "service_unavailable");
  assert.equal(faults[0]?.cause, reason);
});

test("a probe answers HEAD without a body, and other methods with 405", async () => {
  const { app } = open();
  const head = await app.fetch(get("/readyz", {}, "HEAD"));
  assert.equal(head.status, 200);
  assert.equal(await head.text(), "");
  const post = await app.fetch(get("/livez", {}, "POST"));
  assert.equal(post.status, 405);
  assert.equal(post.headers.get("allow"), "GET, HEAD");
});

test("drain waits for the request in flight and for its answer to be sent", async () => {
  const listing = Promise.withResolvers<[]>();
  const sent = Promise.withResolvers<void>();
  const { app } = open({
    storage: { ...memoryStorage(), list: () => listing.promise },
  });
  const answer = app.fetch(get("/v1/pets"), sent.promise);
  const steps: string[] = [];
  const drained = app.drain().then(() => steps.push("drained"));

  listing.resolve([]);
  assert.equal((await answer).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 5));
  steps.push("sent");
  sent.resolve();
  await drained;
  assert.deepEqual(steps, ["sent", "drained"]);
});

test("a draining app answers 503 to new requests and to readyz, and 200 to livez", async () => {
  const { app } = open();
  await app.drain();
  const refused = await app.fetch(get("/v1/pets"));
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("connection"), "close");
  assert.equal((await refused.json()).code, "service_unavailable");
  assert.equal((await app.fetch(get("/readyz"))).status, 503);
  assert.equal((await app.fetch(get("/livez"))).status, 200);
});
