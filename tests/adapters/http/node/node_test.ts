import assert from "node:assert/strict";
import type { Server as HttpServer } from "node:http";
import { connect, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import type { TestContext } from "node:test";
import { clientErrorListener } from "../../../../adapters/http/node/client_error.ts";
import { endLater } from "../../../../adapters/http/node/unread_body.ts";
import {
  type NodeListener,
  type NodeServeOptions,
  serve,
  toNodeListener,
} from "../../../../adapters/http/node/mod.ts";
import { memoryStorage, type ServiceRequest } from "../../../../mod.ts";
import {
  type Handler,
  toHandler,
} from "../../../../core/http/fetch_handler.ts";
import {
  echo,
  ok,
  pets,
  readAll,
  saying,
  speak,
  speakTo,
  streamOf,
  testOnNode as test,
} from "./on_node.ts";
import { GET } from "../stage.ts";
import { atEnd } from "../../../support/at_end.ts";
import { until } from "../../../support/time.ts";
import { REX_JSON } from "../../../support/pets.ts";
import { openWire, rawRequest, WITH_KEY } from "../../../support/wire.ts";

const CHUNKED = rawRequest("POST /", ["Transfer-Encoding: chunked"]);
const FIVE = rawRequest("POST /", ["Content-Length: 5"]);

/** Sends bytes to a server of `handle`, and returns its answer and the errors that were reported. */
async function answerOf(
  t: TestContext,
  handle: Handler,
  bytes = GET,
  options: NodeServeOptions = {},
) {
  const { wire, errors, close } = await speak(t, handle, options);
  wire.write(bytes);
  const answer = await wire.answer(bytes.split(" ")[0]);
  await close();
  return { ...answer, errors: errors.splice(0) };
}

test("a handler is answered without Request, Response, Headers, stream or signal", async (t) => {
  const names = ["Request", "Response", "Headers", "ReadableStream"]
    .concat("AbortController", "URL");
  const globals = globalThis as unknown as Record<string, unknown>;
  const kept = names.map((name) => globals[name]);
  const { wire } = await speak(t, pets());
  names.forEach((name) => globals[name] = undefined);
  try {
    wire.write(rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON));
    assert.equal((await wire.answer()).status, 201);
    wire.write(rawRequest("GET /v1/pets/1", [WITH_KEY]));
    const { lines, body } = await wire.answer();
    assert(lines.includes("content-type: application/json"));
    const pet = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
    assert.equal(body, pet);
  } finally {
    names.forEach((name, i) => globals[name] = kept[i]);
  }
});

test("onError of a handler is given the request that failed", async (t) => {
  const cause = new Error("broken");
  const told: [unknown, ServiceRequest][] = [];
  const handle = pets({
    storage: { ...memoryStorage(), create: () => Promise.reject(cause) },
    onError: (cause, request) => void told.push([cause, request]),
  });
  const sent = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);
  const { status, body, errors } = await answerOf(t, handle, sent);
  assert.equal(status, 500);
  assert.equal(JSON.parse(body).message, "Something went wrong on our side");
  assert.deepEqual(errors, [], "it is the handler's to report");
  const [[toldCause, request] = []] = told;
  assert.equal(toldCause, cause);
  assert(request !== undefined);
  assert.equal(request.method, "POST");
  assert.equal(request.url, "http://a/v1/pets");
  assert.equal(request.headers.get("host"), "a");
});

test("the status text is that of the status, even of a 500 in place of an answer", async (t) => {
  const texts = [
    [{}, "200 OK"],
    [{ "x-a": "\u0001" }, "500 Internal Server Error"],
  ] as const;
  for (const [headers, expected] of texts) {
    const { wire, errors, close } = await speak(t, saying("a", { headers }));
    wire.write("GET / HTTP/1.0\r\n\r\n");
    const [line] = (await wire.rest()).split("\r\n");
    assert.equal(line, `HTTP/1.1 ${expected}`);
    await close();
    assert.equal(errors.splice(0).length, expected === "200 OK" ? 0 : 1);
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
    const handle = saying(streamOf("ab", "cd"), { headers });
    const { wire, errors, close } = await speak(t, handle);
    wire.write(GET);
    assert(!(await wire.rest()).includes("abcd"));
    await close();
    assert.equal(errors.splice(0).length, 1);
  });
}

test("a stream that fails later breaks the connection off, and is reported", async (t) => {
  const error = new Error("secret");
  const { promise, resolve: fail } = Promise.withResolvers<void>();
  async function* chunks() {
    yield* ["a", "b"];
    await promise;
    throw error;
  }
  const body = ReadableStream.from(chunks())
    .pipeThrough(new TextEncoderStream());
  const { wire, errors, close } = await speak(t, saying(body));
  wire.write(GET);
  await until("the head has come", () => wire.received !== "");
  fail();
  const rest = await wire.rest();
  assert.match(rest, /^HTTP\/1\.1 200 /);
  assert(!rest.includes("\r\n0\r\n"), "it must not look complete");
  await close();
  assert.deepEqual(errors.splice(0), [error]);
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
    const handle = toHandler(async (_request, connection) => {
      isAsked = true;
      const socket = connection as Socket;
      if (isLate) await new Promise((go) => socket.once("close", go));
      return ok(stream);
    });
    const { wire, errors, close } = await speak(t, handle);
    wire.write(rawRequest(`${method} /`));
    await until("a head", () => isLate ? isAsked : wire.received !== "");
    await close();
    await until("a report", () => errors.length > 0);
    assert.deepEqual(errors.splice(0), [error]);
  }
});

test("a request without Host, or to no URL, is 400, and no function is asked", async (t) => {
  const requests = [GET.replace("Host: a\r\n", ""), rawRequest("GET http://[")];
  for (const request of requests) {
    const handle = toHandler(() => assert.fail("it is asked"));
    const { body, errors } = await answerOf(t, handle, request);
    assert.equal(JSON.parse(body).code, "bad_request", request);
    assert.deepEqual(errors, []);
  }
});

test("a body that nobody reads keeps the connection, unless it has more than 64 KiB", async (t) => {
  const size = 65_536;
  const post = (length: number) =>
    rawRequest("POST /", [`Content-Length: ${length}`]);
  const { wire } = await speak(t, saying("ok"));
  wire.write(post(size));
  assert.equal((await wire.answer()).body, "ok");
  wire.write("a".repeat(size) + post(size + 1));
  const { lines } = await wire.answer();
  assert(lines.includes("connection: close"), lines.join());
});

const cases = [
  ["the rest of a body that is answered", 10_000, "Content-Length: 5", "ab"],
  ["reading why it was cut off", 1000, "Transfer-Encoding: chunked", ""],
  ["reading why it was refused", 1000, "garbage", ""],
  [
    "reading why 100 does not come",
    1000,
    "Expect: 100-continue\r\nContent-Length: 5",
    "",
  ],
  ["nothing once all is sent", 0, "Connection: close", ""],
] as const;
for (const [what, ms, field, body] of cases) {
  test(`a client has ${ms} ms for ${what}`, async (t) => {
    const { setTimeout } = globalThis;
    const asked: unknown[] = [];
    t.mock.method(globalThis, "setTimeout", (run: () => void, time = 0) => {
      const isAsked = time === 1000 || time === 10_000;
      if (isAsked) asked.push(time);
      return setTimeout(run, isAsked ? 20 : time);
    });
    const empty = saying(null, { status: 204 });
    for (const handle of [saying("ok"), empty, pets()]) {
      const { wire } = await speak(t, handle, { keepAliveTimeout: 0 });
      wire.write(rawRequest("POST /", [field]) + body);
      assert((await wire.answer()).status >= 200);
      assert.equal(await wire.rest(), "");
    }
    assert.deepEqual(asked, ms === 0 ? [] : [ms, ms, ms]);
  });
}

test("a body that nobody wants is read for 64 KiB; tiny chunks count as 64 bytes", async () => {
  for (const [size, count] of [[32_768, 2], [64, 1024], [1, 1024]] as const) {
    const req = Object.assign(new PassThrough(), { complete: false });
    const res = new PassThrough();
    const ended = endLater({ req, res } as never, "no");
    assert.equal(String(res.read()), "no");
    for (let i = 0; i <= count; i++) {
      assert.equal(req.isPaused(), false);
      req.emit("data", new Uint8Array(size));
    }
    assert.equal(req.isPaused(), true);
    req.emit("close");
    await ended;
    assert.equal(res.writableEnded, true);
  }
});

test("serve gives a client 10 s for a head, 30 s for a request, and 5 s until the next", async (t) => {
  const cases = [
    [{}, [10_000, 30_000, 5000]],
    [{ requestTimeout: 7000, keepAliveTimeout: 1 }, [7000, 7000, 1]],
    [{ requestTimeout: 0 }, [10_000, 0, 5000]],
    [{ headersTimeout: 0 }, [0, 30_000, 5000]],
  ] as const;
  for (const [options, times] of cases) {
    const handle = toHandler(async (_request, socket) => {
      const { server } = socket as { readonly server: HttpServer };
      const { headersTimeout, requestTimeout, keepAliveTimeout } = server;
      return ok(`${[headersTimeout, requestTimeout, keepAliveTimeout]}`);
    });
    assert.equal((await answerOf(t, handle, GET, options)).body, `${times}`);
  }
});

test("a body that is read in part does not stop the next request", async (t) => {
  const refused = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  const handle = toHandler(async ({ method }, _connection, readBody) => {
    if (method === "GET") return ok("next");
    const limits = { maxBodyBytes: 1, bodyTimeout: 30_000 };
    const answer = await readBody(limits, 50_000);
    refused.resolve();
    await sent.promise;
    return answer instanceof Uint8Array ? ok("whole") : answer;
  });
  const { wire, received } = await speak(t, handle);
  const head = rawRequest("POST /", ["Content-Length: 50000"]);
  wire.write(`${head}ab`);
  await refused.promise;
  wire.write("a".repeat(49_998) + GET);
  await received(head.length + 50_000);
  sent.resolve();
  assert.equal((await wire.answer()).status, 413);
  assert.equal((await wire.answer()).body, "next");
});

test("a header that is too large is 400, and the message says so", async (t) => {
  const large = rawRequest("GET /", [`X: ${"a".repeat(20_000)}`]);
  const { status, body } = await answerOf(t, saying("ok"), large);
  assert.deepEqual(JSON.parse(body), {
    code: "bad_request",
    message: "Cannot read the request: its header is too large",
    status,
  });
});

test("a malformed chunk fails the reader, and is 400 unless the answer has begun", async (t) => {
  const never = new Promise<string>(() => {});
  for (const isBegun of [false, true]) {
    const failure = Promise.withResolvers<unknown>();
    const handle = toHandler(async (_request, _connection, readBody) => {
      const reading = readAll(readBody);
      reading.then(({ body }) => failure.resolve(body));
      return isBegun ? ok(streamOf("ok", never)) : await reading;
    });
    const { wire } = await speak(t, handle);
    wire.write(CHUNKED);
    if (isBegun) await until("a head", () => wire.received !== "");
    wire.write("3\r\nabc\r\nzz\r\n");
    const answered = isBegun ? /200 .*ok\r\n$/s : /400 (?!.*HTTP\/1)/s;
    assert.match(await wire.rest(), answered);
    assert.match(String(await failure.promise), /cut short/);
  }
});

test("a client that is too slow with the head or the body of a request is told 408", async (t) => {
  const answers = await Promise.all([
    answerOf(t, echo, GET.slice(0, -2), { headersTimeout: 50 }),
    answerOf(t, echo, `${FIVE}ab`, { requestTimeout: 50 }),
  ]);
  for (const { status, body } of answers) {
    assert.deepEqual(JSON.parse(body), {
      code: "request_timeout",
      message: "Cannot read the request: it did not arrive in time",
      status,
    });
  }
});

test("the answer after close is the last of its connection, begun or not", async (t) => {
  for (const isBegun of [false, true]) {
    const { promise: rest, resolve } = Promise.withResolvers<string>();
    let isAsked = false;
    const handle = toHandler(async () => {
      isAsked = true;
      return ok(isBegun ? streamOf(rest) : await rest);
    });
    const server = await serve(handle, { port: 0, keepAliveTimeout: 0 });
    atEnd(t, () => server.close());
    const wire = await openWire(t, server, GET);
    await until("a request", () => isBegun ? wire.received !== "" : isAsked);
    const closed = server.close();
    resolve("ok");
    const { lines, body } = await wire.answer();
    assert.equal(body, "ok");
    assert.equal(lines.includes("connection: close"), !isBegun);
    assert.equal(await wire.rest(), "");
    await closed;
  }
});

test("a 408 is the last answer of its connection", async (t) => {
  const { lines } = await answerOf(t, saying("", { status: 408 }));
  assert(lines.includes("connection: close"), lines.join());
});

test("toNodeListener sees the URL that was sent, also below a mount", async (t) => {
  const headers = { "content-type": "text/plain" };
  const listener = toNodeListener(
    toHandler(async ({ url }) => ({ status: 200, headers, body: url })),
  );
  const counts = new Set<number>();
  const wire = await speakTo(t, (req, res) => {
    counts.add(req.socket.listenerCount("close"));
    // As Express does for app.use("/shop", listener).
    res.setHeader("X-Powered-By", "Express");
    res.setHeader("Content-Type", "text/html");
    const { url = "" } = req;
    if (url.startsWith("/tls/")) Object.assign(req.socket, { encrypted: true });
    if (url.startsWith("/shop/")) {
      Object.assign(req, { originalUrl: url, url: url.slice("/shop".length) });
    }
    listener(req, res);
  });
  const cases = [
    ["/shop/v1/pets?limit=1", "http"],
    ["/v1/pets", "http"],
    ["/tls/v1/pets", "https"],
  ];
  for (const [path, scheme] of cases) {
    const fields = ["originalUrl: /b", "X-Original-URL: /b"];
    wire.write(rawRequest(`GET ${path}`, fields));
    const { lines, body } = await wire.answer();
    assert(lines.includes("x-powered-by: Express"), lines.join());
    assert(lines.includes("content-type: text/plain"));
    assert(!lines.includes("content-type: text/html"));
    assert.equal(body, `${scheme}://a${path}`);
  }
  assert.equal(counts.size, 1, "the connection keeps no listener of a request");
});

test("a create behind another parser is a 500, and onError is told what to do", async (t) => {
  const causes: unknown[] = [];
  const handle = pets({ onError: (cause) => void causes.push(cause) });
  const parsers: readonly ((next: NodeListener) => NodeListener)[] = [
    (next) => (req, res) => {
      req.resume().on("end", () => setImmediate(next, req, res));
    },
    (next) => (req, res) => next(req.setEncoding("utf8"), res),
  ];
  for (const parser of parsers) {
    const wire = await speakTo(t, parser(toNodeListener(handle)));
    wire.write(rawRequest("POST /v1/pets", [WITH_KEY], "right"));
    assert.equal((await wire.answer()).status, 500);
    assert.match(String(causes.pop()), /mount the pet store before body/);
  }
});

test("a client that leaves while another parser reads its body ends no server", async (t) => {
  const listener = toNodeListener(
    toHandler(async (_request, _connection, readBody) =>
      await readAll(readBody, 5).catch((error) => ok(`${error}`))
    ),
  );
  const wire = await speakTo(t, (req, res) => {
    req.on("error", () => {}).once("data", () => req.socket.destroy())
      .once("close", () => listener(req, res));
  });
  wire.write(`${FIVE}rig`);
  assert.equal(await wire.rest(), "");
});

test("a body that another parser reads meanwhile is gone, but whole for the parser", async (t) => {
  let read = "";
  const begun = Promise.withResolvers<void>();
  const whole = Promise.withResolvers<void>();
  const handle = toHandler(async (_request, _connection, readBody) => {
    begun.resolve();
    await whole.promise;
    return await readAll(readBody, 5).catch((error) => ok(`${error}`));
  });
  const listener = toNodeListener(handle);
  const wire = await speakTo(t, (req, res) => {
    req.on("data", (chunk) => {
      read += chunk;
      if (read === "right") whole.resolve();
    }).once("data", () => {
      listener(req, res);
      req.resume();
    });
  });
  wire.write(`${FIVE}rig`);
  await begun.promise;
  wire.write("ht");
  assert.match((await wire.answer()).body, /it was read before/);
});

test("toNodeListener reports to console.error unless told otherwise", async (t) => {
  const { mock } = t.mock.method(console, "error", () => {});
  const error = new Error("secret");
  const listener = toNodeListener(toHandler(() => Promise.reject(error)));
  const wire = await speakTo(t, listener);
  wire.write(GET);
  assert.equal((await wire.answer()).status, 500);
  assert.deepEqual(mock.calls.map((call) => call.arguments), [[error]]);
});

test("a client that resets its CONNECT does not end the process", async (t) => {
  const server = await serve(pets(), { port: 0 });
  atEnd(t, () => server.close());
  for (let i = 0; i < 30; i++) {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(rawRequest("CONNECT x:1"));
    const reset = () => setImmediate(() => socket.resetAndDestroy());
    socket.once("connect", reset);
    await closed;
  }
  assert.equal((await fetch(`${server.url}/v1/pets`)).status, 401);
});

test("a client that keeps sending garbage is told once what is wrong", () => {
  const socket = new PassThrough();
  const listener = clientErrorListener();
  for (const message of ["broken", "broken again"]) {
    listener(new Error(message), socket as unknown as Socket);
  }
  assert.equal(socket.destroyed, false);
  const body =
    '{"code":"bad_request","message":"Cannot read the request: it is not well-formed HTTP","status":400}';
  const lines = [
    "HTTP/1.1 400 Bad Request",
    "content-type: application/json",
    "x-content-type-options: nosniff",
    "cache-control: no-store",
    `content-length: ${body.length}`,
    "connection: close",
  ];
  assert.equal(`${socket.read()}`, `${lines.join("\r\n")}\r\n\r\n${body}`);
  socket.destroy();
});

test("serve and toNodeListener refuse any other fetch function, and say what to do", async () => {
  const other = (() => new Response()) as unknown as Handler;
  const message = (taker: string) =>
    `Cannot serve this function: on Node, ${taker} takes what createHandler(…) returns. ` +
    "Do your own work in (req, res) before the listener, or serve other fetch functions with srvx";
  const refusal = (taker: string) => ({
    name: "TypeError",
    message: message(taker),
  });
  assert.throws(() => toNodeListener(other), refusal("toNodeListener"));
  await assert.rejects(serve(other), refusal("serve"));
});

test("a framework's Connection field does not keep a connection that must be closed", async (t) => {
  const listener = toNodeListener(saying("a"));
  const wire = await speakTo(t, (req, res) => {
    res.setHeader("Connection", "keep-alive");
    listener(req, res);
  });
  wire.write(rawRequest("GET /", ["Upgrade: x", "Connection: upgrade"]));
  const { lines } = await wire.answer();
  assert.match(lines.join(), /connection: close/i);
  assert.equal(await wire.rest(), "");
});

test("a stream shorter than announced is reported, while its client is still sending", async (t) => {
  const headers = { "content-length": "9" };
  const handle = saying(streamOf("ab"), { headers });
  const { wire, errors, close } = await speak(t, handle);
  wire.write(CHUNKED);
  assert(!(await wire.rest()).includes("HTTP/1.1 500"));
  await close();
  assert.equal(errors.length, 1);
  assert.match(String(errors.splice(0)), /Content-Length/i);
});

test("an answer that says so is the last of its connection", async (t) => {
  const headers = { connection: "close" };
  const { lines } = await answerOf(t, saying("a", { headers }));
  assert(lines.includes("connection: close"), lines.join());
  assert(!lines.includes("connection: keep-alive"), lines.join());
});
