/** How Node's adapter writes answers, whole or as streams. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import type { Service } from "../../../../mod.ts";
import {
  answerOf,
  listenerOf,
  speak,
  speakTo,
  streamOf,
  testOnNode as test,
} from "./on_node.ts";
import { GET, ok, saying } from "../stage.ts";
import { until } from "../../../support/time.ts";
import { rawRequest } from "../../../support/wire.ts";

/** Sends a request that is the last of its connection; returns what comes, and what is reported. */
async function untilClosed(t: TestContext, service: Service, request = GET) {
  const { wire, errors, close } = await speak(t, service);
  wire.write(request);
  const rest = await wire.rest();
  await close();
  return { rest, reported: errors.splice(0) };
}

test("the status text is that of the status, even of a 500 in place of an answer", async (t) => {
  const texts = [
    [{}, "200 OK"],
    [{ "x-a": "\u0001" }, "500 Internal Server Error"],
  ] as const;
  for (const [headers, expected] of texts) {
    const service = saying("a", { headers });
    const { rest, reported } = await untilClosed(
      t,
      service,
      "GET / HTTP/1.0\r\n\r\n",
    );
    assert.equal(rest.split("\r\n")[0], `HTTP/1.1 ${expected}`);
    assert.equal(reported.length, expected === "200 OK" ? 0 : 1, expected);
  }
});

test("a stream whose head cannot be sent is cancelled, and only the head is reported", async (t) => {
  let reason: unknown;
  const body = new ReadableStream({
    cancel(given) {
      reason = given;
      throw new Error("not cancelled");
    },
  });
  const headers = { "x-a": "\u0001" };
  const { status, errors } = await answerOf(t, saying(body, { headers }));
  assert.equal(status, 500);
  assert.match(String(reason), /Invalid character in header content/);
  assert.deepEqual(errors, [reason]);
});

test("a wrong length or coding is put right, and fields of the connection are not sent", async (t) => {
  const headers = {
    "content-type": "text/plain;charset=UTF-8",
    "content-length": "3",
    "transfer-encoding": "chunked",
    "connection": "keep-alive, upgrade",
    "keep-alive": "timeout=99",
    "proxy-connection": "keep-alive",
    "Upgrade": "h2c",
  };
  const { wire } = await speak(t, saying("hello", { headers }));
  wire.write(GET + GET);
  for (let i = 0; i < 2; i++) {
    const { lines, body } = await wire.answer();
    assert.equal(body, "hello");
    assert.deepEqual(lines.map((line) => line.replace(/^date: .*/, "date")), [
      "content-type: text/plain;charset=UTF-8",
      "content-length: 5",
      "date",
      "connection: keep-alive",
      "keep-alive: timeout=5",
    ]);
  }
  const empty = { status: 204, headers: { "content-length": "0" } };
  const { lines } = await answerOf(t, saying(null, empty));
  assert(!lines.join().includes("content-length"));
});

for (const length of [1, 9]) {
  test(`a stream announced as ${length} bytes that has 4 breaks the connection off`, async (t) => {
    const headers = { "content-length": String(length) };
    const service = saying(streamOf("ab", "cd"), { headers });
    const { rest, reported } = await untilClosed(t, service);
    assert(!rest.includes("abcd"));
    assert.equal(reported.length, 1);
  });
}

test("a stream shorter than announced is reported, while its client is still sending", async (t) => {
  const headers = { "content-length": "9" };
  const { rest, reported } = await untilClosed(
    t,
    saying(streamOf("ab"), { headers }),
    rawRequest("POST /", ["Transfer-Encoding: chunked"]),
  );
  assert(!rest.includes("HTTP/1.1 500"));
  assert.equal(reported.length, 1);
  assert.match(String(reported), /Content-Length/i);
});

for (const reason of [new Error("secret"), undefined]) {
  test(`a stream that fails with ${reason} breaks the connection off, and is reported`, async (t) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(1)),
      pull: (controller) => controller.error(reason),
    });
    const { rest, reported } = await untilClosed(t, saying(body));
    assert.match(rest, /^HTTP\/1\.1 200 /);
    assert(!rest.includes("\r\n0\r\n"), "it must not look complete");
    assert.deepEqual(reported, [reason]);
  });
}

test("a stream that is in use is answered with 500, also for HEAD", async (t) => {
  const { wire, errors, close } = await speak(t, async () => {
    const body = streamOf("a");
    body.getReader();
    return ok(body);
  });
  for (const method of ["GET", "HEAD"]) {
    wire.write(rawRequest(`${method} /`));
    assert.equal((await wire.answer(method)).status, 500, method);
  }
  await close();
  assert.match(String(errors.splice(0)), /in use.*in use/);
});

test("a stream is cancelled even if middleware has replaced res.on", async (t) => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const start = (given: ReadableStreamDefaultController) =>
    given.enqueue(new Uint8Array(1));
  const listener = listenerOf(saying(new ReadableStream({ start, cancel })));
  const wire = await speakTo(t, (req, res) => {
    const { on } = res;
    // As `compression` 1.8.1 does.
    res.on = (event: string, listener: () => void) =>
      event === "drain"
        ? new EventEmitter() as typeof res
        : on.call(res, event, listener);
    listener(req, res);
  });
  wire.write(GET);
  await until("a head", () => wire.received !== "");
  wire.close();
  await cancelled;
});

test("the body of a HEAD, or of a client that goes away, is cancelled", async (t) => {
  const error = new Error("secret");
  const cancel = (): never => {
    throw error;
  };
  for (const body of ["small", "large", "late", "unwanted"]) {
    const method = body === "unwanted" ? "HEAD" : "GET";
    const isLate = body === "late"; // it comes when the client has gone
    const start = (given: ReadableStreamDefaultController) =>
      given.enqueue(new Uint8Array(body === "large" ? 32e6 : 1));
    const stream = new ReadableStream({ start, cancel });
    let isAsked = false;
    const service: Service = async (_request, connection) => {
      isAsked = true;
      const socket = connection as Socket;
      if (isLate) await new Promise((go) => socket.once("close", go));
      return ok(stream);
    };
    const { wire, errors, close } = await speak(t, service);
    wire.write(rawRequest(`${method} /`));
    await until("a head", () => isLate ? isAsked : wire.received !== "");
    await close();
    await until("a report", () => errors.length > 0);
    assert.deepEqual(errors.splice(0), [error], body);
  }
});

const last = {
  "a 408": { status: 408 },
  "an answer that says so": { headers: { connection: "close" } },
};
for (const [what, answer] of Object.entries(last)) {
  test(`${what} is the last of its connection`, async (t) => {
    const { lines } = await answerOf(t, saying("a", answer));
    assert(lines.includes("connection: close"), lines.join());
    assert(!lines.includes("connection: keep-alive"), lines.join());
  });
}
