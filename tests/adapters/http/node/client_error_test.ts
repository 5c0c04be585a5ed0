/** Bytes that are not HTTP, and clients that are too slow. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { clientErrorListener } from "../../../../adapters/http/node/client_error.ts";
import {
  type NodeServeOptions,
  serve,
} from "../../../../adapters/http/node/mod.ts";
import { toHandler } from "../../../../core/handler.ts";
import type { Service } from "../../../../mod.ts";
import {
  answerOf,
  pets,
  speak,
  streamOf,
  testOnNode as test,
} from "./on_node.ts";
import { GET, ok, readAll, sendBack } from "../stage.ts";
import { atEnd } from "../../../support/at_end.ts";
import { until } from "../../../support/time.ts";
import { rawRequest } from "../../../support/wire.ts";

const CHUNKED = rawRequest("POST /", ["Transfer-Encoding: chunked"]);

const NO_HOST =
  "the Host header must be a host name or address, with or without a port";
const NO_TARGET = "its target must be a path or an http address";
const LATE = "it did not arrive in time";
/** What a client sends, and why that is refused. */
const REFUSED: readonly (readonly [
  what: string,
  bytes: string,
  code: string,
  reason: string,
  options?: NodeServeOptions,
])[] = [
  [
    "a header of 20 KB",
    rawRequest("GET /", [`X: ${"a".repeat(20_000)}`]),
    "bad_request",
    "its header is too large",
  ],
  [
    "1,100 fields",
    rawRequest("GET /", Array(1100).fill("x:")),
    "bad_request",
    "its header is too large",
  ],
  [
    "half a header",
    GET.slice(0, -2),
    "request_timeout",
    LATE,
    { headersTimeout: 50 },
  ],
  [
    "half a body",
    rawRequest("POST /", ["Content-Length: 5"]) + "ab",
    "request_timeout",
    LATE,
    { requestTimeout: 50 },
  ],
];
for (const [what, bytes, code, reason, options] of REFUSED) {
  test(`a request that has ${what} is refused: ${reason}`, async (t) => {
    const answer = await answerOf(t, sendBack, bytes, options);
    const { status, body, errors } = answer;
    const message = `Cannot read the request: ${reason}`;
    assert.deepEqual(JSON.parse(body), { code, message, status });
    assert.deepEqual(errors, []);
  });
}

const REFUSED_BY_SERVICE = [
  ["no Host", GET.replace("Host: a\r\n", ""), NO_HOST],
  ["no URL", rawRequest("GET http://["), NO_TARGET],
] as const;
for (const [what, bytes, reason] of REFUSED_BY_SERVICE) {
  test(`the service refuses a request that has ${what}, and can log it`, async (t) => {
    const service = pets();
    const seen: number[] = [];
    const layer: Service = async (...call) => {
      const answer = await service(...call);
      seen.push(answer.status);
      return answer;
    };
    const { body } = await answerOf(t, layer, bytes);
    const { message } = JSON.parse(body);
    assert.equal(message, `Cannot read the request: ${reason}`);
    assert.deepEqual(seen, [400]);
  });
}

test("a malformed chunk fails the reader, and is 400 unless the answer has begun", async (t) => {
  const never = new Promise<string>(() => {});
  for (const isBegun of [false, true]) {
    const failure = Promise.withResolvers<unknown>();
    const service: Service = async (_request, _connection, readBody) => {
      const reading = readAll(readBody);
      reading.then(({ body }) => failure.resolve(body));
      return isBegun ? ok(streamOf("ok", never)) : await reading;
    };
    const { wire } = await speak(t, service);
    wire.write(CHUNKED);
    if (isBegun) await until("a head", () => wire.received !== "");
    wire.write("3\r\nabc\r\nzz\r\n");
    const answered = isBegun ? /200 .*ok\r\n$/s : /400 (?!.*HTTP\/1)/s;
    assert.match(await wire.rest(), answered, `${isBegun}`);
    assert.match(String(await failure.promise), /cut short/, `${isBegun}`);
  }
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

test("a client that resets its CONNECT does not end the process", async (t) => {
  const server = await serve(toHandler(pets()), { port: 0 });
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
