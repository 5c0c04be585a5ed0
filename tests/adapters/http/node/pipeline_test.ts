/** Pipelined requests on Node, and what comes between them that is no request. */

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import process from "node:process";
import { toHandler } from "../../../../core/handler.ts";
import { memoryStorage } from "../../../../mod.ts";
import {
  GET,
  ok,
  pets,
  POST,
  speaking,
  streamOf,
  testOnNode as test,
  withKey,
} from "./on_node.ts";
import { until } from "../../../support/time.ts";
import { REX_JSON } from "../../../support/pets.ts";

test("of pipelined requests, eight are begun before the first is answered", async () => {
  let begun = 0;
  const warnings: unknown[] = [];
  process.once("warning", (warning) => warnings.push(warning));
  const first = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const handle = toHandler(async () => {
    begun++;
    setImmediate(arrived.resolve); // all came in one piece
    await first.promise;
    return ok(streamOf("ok"));
  });
  await speaking(handle, async (wire) => {
    const methods = Array(4).fill(["GET", "HEAD", "OPTIONS"]).flat();
    wire.write(methods.map((method) => GET.replace("GET", method)).join(""));
    await arrived.promise;
    assert.equal(begun, 8);
    first.resolve();
    for (const method of methods) {
      assert.equal((await wire.answer(method)).status, 200);
    }
  });
  assert.deepEqual(warnings, [], "Node warns of too many listeners");
});

test("Node reads no further while more than 32 requests wait, and closes the connection if more than 256 do", async () => {
  const handle = toHandler(async (_request, socket) => {
    await new Promise(setImmediate); // all came in one piece
    return ok(String((socket as Socket).isPaused()));
  });
  await speaking(handle, async (wire) => {
    for (const waiting of [256, 33, 32]) {
      wire.write(`${POST}\r\n${GET.repeat(waiting)}`);
      assert.equal((await wire.answer()).body, String(waiting > 32));
      for (let i = 0; i < waiting; i++) await wire.answer();
    }
    wire.write(`${POST}\r\n${GET.repeat(257)}`);
    assert.equal(await wire.rest(), "");
  });
});

test("a pipelined request begins when those before it are answered, or at once if it and they are safe", async () => {
  const begun: string[] = [];
  const handle = toHandler(async (request) => {
    const step = `${request.method} ${new URL(request.url).pathname}`;
    begun.push(step);
    await new Promise((go) => setTimeout(go, 5));
    begun.push(`${step} is answered`);
    return ok(step);
  });
  await speaking(handle, async (wire) => {
    const steps = ["POST /1", "GET /2", "GET /3", "DELETE /4", "GET /5"];
    const fields = " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    wire.write(steps.map((step) => step + fields).join(""));
    for (const step of steps) assert.equal((await wire.answer()).body, step);
    const inTurn = (step: string) => [step, `${step} is answered`];
    assert.deepEqual(begun, [
      ...inTurn("POST /1"),
      "GET /2",
      "GET /3",
      "GET /2 is answered",
      "GET /3 is answered",
      ...inTurn("DELETE /4"),
      ...inTurn("GET /5"),
    ]);
  });
});

test("a client that goes away cancels the bodies of its pipelined requests, and only another error is reported", async () => {
  const error = new Error("secret");
  const reasons: unknown[] = [];
  const handle = toHandler(async () =>
    ok(
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel(reason) {
          reasons.push(reason);
          throw reasons.length === 1 ? reason : error;
        },
      }),
    )
  );
  const errors = await speaking(handle, async (wire) => {
    wire.write(GET + GET);
    await until("a head", () => wire.received !== "");
    wire.close();
    await until("both are cancelled", () => reasons.length === 2);
    await new Promise(setImmediate);
  });
  assert.match(String(reasons[0]), /AbortError/);
  assert.deepEqual(errors, [error]);
});

test("garbage does not cut off the answer to the request before it", async () => {
  for (const isBegun of [false, true]) {
    const { promise: rest, resolve } = Promise.withResolvers<string>();
    const handle = toHandler(async () =>
      ok(isBegun ? streamOf(rest) : await rest)
    );
    await speaking(handle, async (wire) => {
      wire.write(GET);
      if (isBegun) await until("a head", () => wire.received !== "");
      wire.write("hello world\r\n\r\n");
      setTimeout(resolve, 20, "ok");
      const { lines, body } = await wire.answer();
      assert.equal(body, "ok");
      assert.equal(lines.includes("connection: close"), !isBegun);
      assert.equal(await wire.rest(), "");
    }, { keepAliveTimeout: 0 });
  }
});

test("a CONNECT behind a create does not take the place of its answer", async () => {
  await speaking(pets(), async (wire) => {
    const create = withKey("POST /v1/pets", REX_JSON);
    wire.write(`${create}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(await wire.rest(), /^HTTP\/1\.1 201 /);
    assert.equal(wire.received.split("HTTP/1.1 ").length, 2);
  });
});

test("the middle of a body that follows the offer of another protocol is no request, whatever fields a rate limit adds", async () => {
  const storage = memoryStorage();
  const headers = { connection: "keep-alive", "keep-alive": "timeout=60" };
  const rateLimit = () => ({ allowed: true, headers });
  await speaking(pets({ storage, rateLimit }), async (wire) => {
    const offer = "Connection: Upgrade\r\nUpgrade: other\r\n";
    const inner = withKey("POST /v1/pets", REX_JSON);
    const outer =
      `POST /v1/no HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length}\r\n\r\n`;
    wire.write(withKey("GET /v1/pets", "", offer) + outer);
    await until("an answer", () => wire.received.endsWith("[]"));
    wire.write(inner);
    await wire.rest();
    assert.deepEqual((await storage.list({ limit: 1 })).pets, []);
  });
});

test("a create behind an answer that closes the connection is not carried out", async () => {
  const storage = memoryStorage();
  await speaking(pets({ storage }), async (wire) => {
    const text = "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n";
    wire.write(withKey("POST /v1/pets", "", text));
    await until("an answer", () => /connection: close/i.test(wire.received));
    wire.write(`3\r\nabc\r\n0\r\n\r\n${withKey("POST /v1/pets", REX_JSON)}`);
    assert.match(await wire.rest(), /^HTTP\/1\.1 415 /);
    assert.equal(wire.received.split("HTTP/1.1 ").length, 2);
    assert.deepEqual((await storage.list({ limit: 9 })).pets, []);
  });
});
