/** Pipelined requests on Node, and what comes between them that is not a request. */

import assert from "node:assert/strict";
import process from "node:process";
import { memoryStorage, type Service } from "../../../../mod.ts";
import {
  listenerOf,
  pets,
  speak,
  speakTo,
  streamOf,
  testOnNode as test,
} from "./on_node.ts";
import { GET, ok } from "../stage.ts";
import { until } from "../../../support/time.ts";
import { REX_JSON } from "../../../support/pets.ts";
import { rawRequest, WITH_KEY } from "../../../support/wire.ts";

test("Node hangs up on a client if more than 256 requests wait", async (t) => {
  const service: Service = async () => {
    await new Promise(setImmediate); // all came in one piece
    return ok("");
  };
  const { wire } = await speak(t, service);
  wire.write(rawRequest("POST /") + GET.repeat(256));
  for (let i = 0; i <= 256; i++) {
    assert.equal((await wire.answer()).status, 200);
  }
  wire.write(rawRequest("POST /") + GET.repeat(257));
  assert.equal(await wire.rest(), "");
});

test("a pipelined request begins once the one before it is answered", async (t) => {
  const begun: string[] = [];
  const warnings: unknown[] = [];
  process.once("warning", (warning) => warnings.push(warning));
  const service: Service = async ({ method, url }) => {
    const step = `${method} ${new URL(url).pathname}`;
    begun.push(step);
    await new Promise(setImmediate);
    begun.push(`${step} is answered`);
    return ok(streamOf(step));
  };
  const { wire } = await speak(t, service);
  const steps = Array.from({ length: 12 }, (_, i) => `GET /${i}`)
    .concat("POST /a", "GET /b", "DELETE /c", "GET /d");
  wire.write(steps.map((step) => rawRequest(step, [], "")).join(""));
  for (const step of steps) assert.equal((await wire.answer()).body, step);
  assert.deepEqual(
    begun,
    steps.flatMap((step) => [step, `${step} is answered`]),
  );
  assert.deepEqual(warnings, [], "Node warns of too many listeners");
});

test("a request that middleware passes on early waits for its turn", async (t) => {
  const begun: string[] = [];
  const listener = listenerOf(async ({ url }) => {
    const { pathname } = new URL(url);
    begun.push(pathname);
    return ok(pathname);
  });
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const wire = await speakTo(t, async (req, res) => {
    if (req.url === "/2") await arrived;
    listener(req, res);
    if (req.url === "/3") arrive();
  });
  const paths = ["/1", "/2", "/3"];
  wire.write(paths.map((path) => rawRequest(`GET ${path}`)).join(""));
  for (const path of paths) assert.equal((await wire.answer()).body, path);
  assert.deepEqual(begun, paths);
});

test("a request behind one that another handler answers waits for it", async (t) => {
  const begun: string[] = [];
  const listener = listenerOf(async ({ url }) => {
    begun.push(new URL(url).pathname);
    return ok("ours");
  });
  const { promise: other, resolve: answerOther } = Promise.withResolvers<
    void
  >();
  const wire = await speakTo(t, async (req, res) => {
    if (req.url !== "/2") return listener(req, res);
    await other;
    res.end("other");
  });
  wire.write(
    rawRequest("GET /1") + rawRequest("GET /2") + rawRequest("GET /3"),
  );
  assert.equal((await wire.answer()).body, "ours");
  await new Promise(setImmediate);
  assert.deepEqual(begun, ["/1"]);
  answerOther();
  assert.equal((await wire.answer()).body, "other");
  assert.equal((await wire.answer()).body, "ours");
});

test("a client that goes away cancels the answer, and no later request begins", async (t) => {
  const reasons: unknown[] = [];
  let begun = 0;
  const service: Service = async () => {
    begun++;
    return ok(
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel(reason) {
          reasons.push(reason);
          throw reason; // it is no fault
        },
      }),
    );
  };
  const { wire, close } = await speak(t, service);
  wire.write(GET + GET);
  await until("a head", () => wire.received !== "");
  wire.close();
  await until("it is cancelled", () => reasons.length > 0);
  await new Promise(setImmediate);
  await close();
  assert.match(String(reasons), /AbortError/);
  assert.equal(begun, 1);
});

for (
  const [what, bytes, reason] of [
    ["garbage", "hello world\r\n\r\n", "it is not well-formed HTTP"],
    [
      "a malformed chunk",
      rawRequest("POST /", ["Transfer-Encoding: chunked"]) + "zz\r\n",
      "it is not well-formed HTTP",
    ],
    ["a CONNECT", rawRequest("CONNECT x:1"), "this server is not a proxy"],
  ] as const
) {
  test(`${what} behind requests that are answered is refused after their answers`, async (t) => {
    const arrived = Promise.withResolvers<void>();
    const { wire, received } = await speak(t, async ({ url }) => {
      await arrived.promise;
      return ok(streamOf(new URL(url).pathname));
    });
    const sent = rawRequest("GET /1") + rawRequest("GET /2") + bytes;
    wire.write(sent);
    await received(sent.length);
    arrived.resolve();
    for (const path of ["/1", "/2"]) {
      assert.equal((await wire.answer()).body, path);
    }
    const { status, body } = await wire.answer();
    assert.equal(status, 400);
    assert.match(body, new RegExp(reason));
    assert.equal(await wire.rest(), "");
  });
}

test("a body after the offer of another protocol is no request, despite a rate limit", async (t) => {
  const storage = memoryStorage();
  const headers = { connection: "keep-alive", "keep-alive": "timeout=60" };
  const rateLimit = () => ({ allowed: true, headers });
  const { wire } = await speak(t, pets({ storage, rateLimit }));
  const offer = [WITH_KEY, "Connection: Upgrade", "Upgrade: other"];
  const inner = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);
  const outer = rawRequest("POST /v1/no", [`Content-Length: ${inner.length}`]);
  wire.write(rawRequest("GET /v1/pets", offer) + outer);
  await until("an answer", () => wire.received.endsWith("[]"));
  wire.write(inner);
  await wire.rest();
  assert.deepEqual((await storage.list({ limit: 1 })).pets, []);
});

test("a create behind an answer that closes the connection is not carried out", async (t) => {
  const storage = memoryStorage();
  const { wire } = await speak(t, pets({ storage }));
  const text = ["Content-Type: text/plain", "Transfer-Encoding: chunked"];
  wire.write(rawRequest("POST /v1/pets", [WITH_KEY, ...text]));
  await until("an answer", () => /connection: close/i.test(wire.received));
  const create = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);
  wire.write(`3\r\nabc\r\n0\r\n\r\n${create}`);
  assert.match(await wire.rest(), /^HTTP\/1\.1 415 /);
  assert.equal(wire.received.split("HTTP/1.1 ").length, 2);
  assert.deepEqual((await storage.list({ limit: 9 })).pets, []);
});
