/** The promises of every `serve`, tested over TCP because the bytes matter. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ServeOptions, Server } from "../../../adapters/http/server.ts";
import { type Handler, toHandler } from "../../../core/handler.ts";
import type { Answer, Service } from "../../../core/answer.ts";
import { Refusal } from "../../../core/errors.ts";
import { parseTarget } from "../../../core/http/target.ts";
import { atEnd } from "../../support/at_end.ts";
import { freePort } from "../../support/process.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { openWire, rawRequest } from "../../support/wire.ts";
import { GET, inTime, ok, saying, sendBack, watch } from "./stage.ts";

const MANY_BYTES = 8 * 1024 * 1024;

/** On Node, connections may be idle for longer than a test may take. */
const PATIENT = RUNTIME === "node"
  ? { headersTimeout: 60_000, requestTimeout: 60_000, keepAliveTimeout: 60_000 }
  : {};

/** The header of a request with a body of this many bytes. */
function headOf(length: number, ...fields: readonly string[]): string {
  return rawRequest("POST /", [`Content-Length: ${length}`, ...fields]);
}

/** A service that reports its calls. */
function told(
  service: Service,
): { readonly service: Service; readonly called: Promise<void> } {
  const { promise: called, resolve } = Promise.withResolvers<void>();
  return {
    called,
    service(...call) {
      resolve();
      return service(...call);
    },
  };
}

const sendPath: Service = async ({ url }) => ok(new URL(url).pathname);

/** Registers the tests of one `serve`. */
export function serverContract(
  register: (
    title: string,
    check: (t: TestContext) => Promise<void>,
  ) => unknown,
  serve: (handle: Handler, options: ServeOptions) => Promise<Server>,
): void {
  const timed: { readonly test: typeof register } = {
    test: (title, check) => register(title, (t) => inTime(check(t))),
  };
  const listen = (t: TestContext, service: Service, options?: ServeOptions) =>
    watch(t, (all) => serve(toHandler(service), all), { ...options });
  const speak = async (t: TestContext, service: Service) =>
    await openWire(t, await listen(t, service));

  timed.test("serve says where it listens, on this machine unless told otherwise", async (t) => {
    const server = await listen(t, saying("hello"));
    assert.equal(server.hostname, "127.0.0.1");
    assert.equal(server.url, `http://127.0.0.1:${server.port}`);
    const response = await fetch(server.url);
    assert.equal(await response.text(), "hello");
  });

  timed.test("a handler of another copy of the package is asked for its answer", async (t) => {
    const call = () => Promise.reject(new Error("called"));
    const answer: Service = async (_request, connection) =>
      ok(typeof connection);
    const handle: Handler = Object.assign(call, { answer });
    const server = await serve(handle, { port: 0 });
    atEnd(t, () => server.close());
    assert.equal(await (await fetch(server.url)).text(), "object");
  });

  timed.test("a service that fails is answered for with 500, and reported", async (t) => {
    const fail = () => Promise.reject(new Error("secret"));
    const { url, errors } = await listen(t, fail);
    const response = await fetch(url);
    assert.equal(response.status, 500);
    assert.equal((await response.json()).code, "internal_error");
    assert.match(String(errors.splice(0)), /secret/);
  });

  timed.test("serve rejects if the port is taken, and says so", async (t) => {
    const { port } = await listen(t, sendPath);
    await assert.rejects(serve(toHandler(sendPath), { port }), {
      message: `Cannot listen on 127.0.0.1:${port}: the address is in use`,
    });
  });

  timed.test("CONNECT is refused", async (t) => {
    const wire = await speak(t, async (request) => {
      const target = parseTarget(request);
      return target instanceof Refusal ? target : assert.fail("a target");
    });
    wire.write(rawRequest("CONNECT example.com:443"));
    const { status, body } = await wire.answer("CONNECT");
    const message = "Cannot open tunnel: this server is not a proxy";
    assert.deepEqual([status, JSON.parse(body).message], [400, message]);
  });

  timed.test("HEAD is answered with the header of GET, or a length that is given, and no body", async (t) => {
    const headers = { "content-length": "7" };
    const wire = await speak(
      t,
      async ({ url }) =>
        url.endsWith("/7") ? { status: 200, headers, body: null } : ok("hello"),
    );
    for (const [path, length] of [["/", 5], ["/7", 7]]) {
      wire.write(rawRequest(`HEAD ${path}`));
      const { lines } = await wire.answer("HEAD");
      assert(lines.includes(`content-length: ${length}`), lines.join());
    }
    wire.write(GET);
    assert.equal((await wire.answer()).body, "hello");
  });

  timed.test("204 and 304 have no body, and the connection goes on", async (t) => {
    const wire = await speak(t, async ({ url }) => {
      const status = Number(new URL(url).pathname.slice(1));
      const body = status === 200 ? "hello" : null;
      return { status, headers: {}, body };
    });
    for (const status of [204, 304, 200]) {
      wire.write(rawRequest(`GET /${status}`));
      const answer = await wire.answer();
      assert.equal(answer.status, status);
      const hasLength = answer.lines.join().includes("content-length");
      assert.equal(hasLength, status === 200, `${status}`);
    }
  });

  timed.test("a stream is sent in full and in order, however slow its reader", async (t) => {
    const chunks = Array.from(
      { length: 512 },
      (_, i) => String.fromCharCode(97 + i % 26).repeat(64 * 1024),
    );
    let pulled = 0;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Promise.resolve();
        controller.enqueue(new TextEncoder().encode(chunks[pulled++]));
        if (pulled === chunks.length) controller.close();
      },
    });
    const wire = await speak(t, saying(stream));
    wire.pause();
    wire.write(GET);
    let before = -1;
    while (before < pulled || pulled === 0) {
      before = pulled;
      await delay(50); // nothing tells that no more is pulled
    }
    assert(pulled < 500, `${pulled} chunks are piled up`);
    wire.resume();
    const { body } = await wire.answer();
    assert(body === chunks.join(""), "a chunk is out of its place");
  });

  timed.test("a client that goes away in the middle of its body fails the reader", async (t) => {
    const failed = Promise.withResolvers<Answer>();
    const { service, called } = told(async (...call) => {
      const answer = await sendBack(...call);
      failed.resolve(answer);
      return answer;
    });
    const wire = await speak(t, service);
    wire.write(`${headOf(9)}abc`);
    await called;
    wire.close();
    const { body } = await failed.promise;
    assert.match(String(body), /cut short/);
  });

  timed.test("an answer given before a long body has come reaches the client", async (t) => {
    const wire = await speak(t, saying("no", { status: 413 }));
    const half = "a".repeat(200_000);
    wire.write(headOf(400_000) + half);
    const { status, body } = await wire.answer("POST");
    assert.equal(status, 413);
    assert.equal(body, "no");
  });

  timed.test("a client that expects 100 is told so when its body is read", async (t) => {
    const wire = await speak(t, sendBack);
    wire.write(headOf(5, "Expect: 100-continue"));
    assert.equal((await wire.answer()).status, 100);
    wire.write("hello");
    assert.equal((await wire.answer()).body, "hello");
    wire.write(`${headOf(5, "Expect: more")}hello`);
    assert.equal((await wire.answer()).body, "hello");
  });

  timed.test("close is prompt if connections are idle, and may be called again", async (t) => {
    const port = await freePort();
    const server = await listen(t, saying("ok"), { port, ...PATIENT });
    const idle = await openWire(t, server, GET);
    await idle.answer();
    await openWire(t, server); // silent
    const halfway = await openWire(t, server, GET.slice(0, 18));
    // Once this one is answered, the server knows those before it.
    await (await openWire(t, server, GET)).answer();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    // Of the silent one Bun has never heard: Linux holds it back until it sends something.
    for (const wire of [idle, halfway]) assert.equal(await wire.rest(), "");
    await assert.rejects(openWire(t, server));
  });

  for (const isOnItsWay of [false, true]) {
    const what = isOnItsWay ? "an answer on its way" : "a request";
    timed.test(`close waits until ${what} is answered in full`, async (t) => {
      const answer = Promise.withResolvers<Answer>();
      const body = "a".repeat(MANY_BYTES);
      const give = () => answer.resolve(ok(body));
      atEnd(t, give);
      const { service, called } = told(() => answer.promise);
      const server = await listen(t, service, { port: await freePort() });
      const wire = await openWire(t, server, GET);
      await called;
      if (isOnItsWay) {
        give();
        await wire.until((text) => text !== "", 30_000);
      }
      wire.pause();
      let isClosed = false;
      void server.close();
      // A second call waits as well.
      const closed = server.close().then(() => isClosed = true);
      await assert.rejects(openWire(t, server));
      assert.equal(isClosed, false);
      give();
      wire.resume();
      assert.equal((await wire.answer()).body.length, MANY_BYTES);
      await closed;
    });
  }

  timed.test("close waits for a request body that is on its way", async (t) => {
    const { service, called } = told(sendBack);
    const server = await listen(t, service, { port: await freePort() });
    const wire = await openWire(t, server, `${headOf(10)}half `);
    await called;
    const closed = server.close();
    // In the meantime new connections are refused, on Deno only later.
    await openWire(t, server).catch(() => {});
    wire.write("whole");
    const { status, body } = await wire.answer();
    assert.deepEqual([status, body], [200, "half whole"]);
    await closed;
  });
}
