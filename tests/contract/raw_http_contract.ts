/**
 * What the service promises a client that sends what `fetch` would not: malformed hosts, targets in
 * other forms, bodies that lie about their length, and less. For servers on sockets only.
 *
 * @module
 */

import assert from "node:assert/strict";
import test from "node:test";
import type { Answer } from "./ask.ts";
import { assertError } from "./error_reply.ts";
import { exchange } from "./exchange.ts";

/** A service on a socket; its base path is `/v1`. */
export interface OpenServer {
  readonly port: number;
  /** A key that it takes. */
  readonly key: string;
  close(): Promise<void>;
}

/** Options of the service that a clause may ask for. */
export interface ServerLimits {
  readonly maxBodyBytes?: number;
  readonly bodyTimeout?: number;
}

const REX = '{"name":"Rex","categoryId":1}';
const REX_PET = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';

/** Registers the suite; `open` makes a fresh and empty service for each test. */
export function rawHttpContract(
  name: string,
  open: (limits: ServerLimits) => Promise<OpenServer>,
): void {
  function it(
    sentence: string,
    check: (server: OpenServer) => Promise<void>,
    limits: ServerLimits = {},
  ): void {
    test(`${name}: ${sentence}`, async () => {
      const server = await open(limits);
      try {
        await check(server);
      } finally {
        await server.close();
      }
    });
  }

  // ---- Host and target ----

  it("a malformed Host is 400, before the path, the method and the key", async (server) => {
    const hosts = ["a/b", "a b", "a:80:80", "[::1", "a%zz", "http://a"];
    for (const host of hosts) {
      for (const line of ["GET /v1/pets", "DELETE /nothing"]) {
        const answer = await one(
          server,
          `${line} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        );
        assert.equal(answer.status, 400, host);
        assertError(answer, "bad_request");
      }
    }
  });

  it("an empty or repeated Host is 400", async (server) => {
    for (
      const fields of [
        "Host:\r\n",
        "Host: a\r\nHost: b\r\n",
        "Host: a\r\nHost: a\r\n",
      ]
    ) {
      const { answers } = await exchange(server.port, [
        `GET /v1/pets HTTP/1.1\r\n${fields}Authorization: Bearer ${server.key}\r\n\r\n`,
      ]);
      const [answer] = answers;
      assert.equal(answer?.status, 400);
      // Deno refuses a repeated one itself, with nothing to read.
      if (answer.text !== "") assertError(answer, "bad_request");
    }
  });

  it("HTTP/1.0 without a Host is answered", async (server) => {
    const answer = await one(
      server,
      `GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer ${server.key}\r\n\r\n`,
    );
    assert.equal(answer.status, 200);
    assert.equal(answer.text, "[]");
  });

  it("an odd target is refused, never a failure and never another path", async (server) => {
    const targets = [
      "//v1/pets",
      "/v1/pets/",
      "/v1/pets/%",
      "/v1/pets/%2e%2e",
    ]
      .concat("/v1%2fpets", "/V1/pets", "/v1/pet\u00e9");
    for (const target of targets) {
      const answer = await one(server, head(server, "GET", target));
      assert.ok(
        [400, 404].includes(answer.status),
        `${target}: ${answer.status} ${answer.text}`,
      );
    }
  });

  // ---- Methods ----

  it("TRACE and unknown methods are 405 with Allow", async (server) => {
    for (const method of ["TRACE", "PROPFIND", "PUT"]) {
      const answer = await one(server, head(server, method, "/v1/pets"));
      assertError(answer, "method_not_allowed");
      assert.equal(answer.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
    }
  });

  // ---- Credentials ----

  it("a repeated Idempotency-Key is 400", async (server) => {
    for (
      const [a, b] of [["k", "k"], ['"k"', '"k"'], ['"k', 'k"'], ["k", ""]]
    ) {
      const answer = await one(
        server,
        `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n` +
          `Idempotency-Key: ${a}\r\nIdempotency-Key: ${b}\r\nContent-Length: ${REX.length}\r\n\r\n${REX}`,
      );
      assert.match(assertError(answer, "bad_request"), /Idempotency-Key/);
    }
  });

  it("two Authorization fields let nobody in", async (server) => {
    for (const [a, b] of [[server.key, "x"], ["x", server.key]]) {
      const answer = await one(
        server,
        `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${a}\r\nAuthorization: Bearer ${b}\r\n\r\n`,
      );
      assert.ok([400, 401].includes(answer.status), `${answer.status}`);
    }
  });

  it("a key with other bytes than visible ASCII is 401", async (server) => {
    for (const token of [`${server.key}\u00e9`, `${server.key}\tx`]) {
      const answer = await one(
        server,
        `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      assertError(answer, "unauthorized");
    }
  });

  // ---- Bodies ----

  it("a body in chunks is one body", async (server) => {
    const answer = await one(server, chunked(server, Array.from(REX)));
    assert.equal(answer.status, 201);
    assert.equal(answer.text, REX_PET);
  });

  it("a body that stops coming is 408", async (server) => {
    const stalls = [
      post(server, REX.slice(0, 10), { length: REX.length }),
      post(server, "", { length: REX.length }),
      chunked(server, [REX.slice(0, 10)], { isOpen: true }),
      chunked(server, [REX], { isOpen: true }), // all of it, but for the end
    ];
    for (const stall of stalls) {
      const answer = await one(server, stall);
      assertError(answer, "request_timeout");
    }
    assert.equal((await list(server)).text, "[]");
  }, { bodyTimeout: 100 });

  it(
    "a Content-Length above the cap is 413 before any of the body is sent",
    async (server) => {
      for (const length of [101, 1e12]) {
        const answer = await one(server, post(server, "", { length }));
        assert.equal(answer.status, 413, `${length}`);
        if (length < 1e6) assertError(answer, "payload_too_large");
      }
    },
    { maxBodyBytes: 100 },
  );

  it(
    "a body in chunks above the cap is 413 before it ends",
    async (server) => {
      const answer = await one(
        server,
        chunked(server, [" ".repeat(60), " ".repeat(60)], { isOpen: true }),
      );
      assertError(answer, "payload_too_large");
    },
    { maxBodyBytes: 100 },
  );

  it(
    "what follows a body that is not read is never answered as a request of its own",
    async (server) => {
      const smuggled =
        `GET /v1/pets/7 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
      const length = smuggled.length;
      const asked = [
        post(server, smuggled, { length }), // over the cap
        post(server, smuggled, { length, path: "/nothing" }),
        post(server, smuggled, { length, method: "PUT" }),
        post(server, smuggled, { length, key: "wrong" }),
        post(server, smuggled, { length, type: "text/plain" }),
        post(server, smuggled, { length, method: "GET" }),
        post(server, smuggled, { length, method: "OPTIONS" }),
      ];
      for (const text of asked) {
        const { answers, raw } = await exchange(server.port, [
          text,
          head(server, "GET", "/v1/pets"),
        ]);
        assert.doesNotMatch(raw, /\\"7\\"/); // in the message about the animal 7
        const [first, second] = answers;
        assert.ok(first !== undefined, "the first request is answered");
        // The server may close the connection, rather than read what nobody wants.
        if (second !== undefined) assert.equal(second.text, "[]");
      }
    },
    { maxBodyBytes: 20 },
  );

  it(
    "Expect: 100-continue with too long a body is refused at once",
    async (server) => {
      const answer = await one(
        server,
        post(server, "", { length: 1000, more: "Expect: 100-continue\r\n" }),
      );
      assertError(answer, "payload_too_large");
    },
    { maxBodyBytes: 100 },
  );

  // ---- Connections ----

  it("what is no HTTP is refused, and the next client is served", async (server) => {
    const garbage = [
      "hello\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "GET\r\n\r\n",
      "GET  /v1/pets HTTP/1.1\r\n\r\n",
      "GET /v1/pets HTTP/9.9\r\nHost: a\r\n\r\n",
      "GET /v1/pets HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
      "GET /v1/pets HTTP/1.1\r\nHost: a\r\nx: \x00\r\n\r\n",
      `GET /v1/pets?${"x".repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nx: ${"x".repeat(100_000)}\r\n\r\n`,
    ];
    for (const bytes of garbage) {
      const { raw } = await exchange(server.port, [bytes], { end: true });
      assert.match(raw, /^$|^HTTP\/1\.1 [45]/);
      assert.doesNotMatch(raw, /^HTTP\/1\.1 500/);
      assert.doesNotMatch(raw, /\/work|\.ts:|node:|at /);
      assert.equal((await list(server)).status, 200);
    }
  });
}

interface PostOptions {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly key?: string;
  readonly type?: string;
  /** What `Content-Length` says. Default: the truth. */
  readonly length?: number;
  /** More header lines. */
  readonly more?: string;
}

/** The head of a request without a body. */
function head(
  { key }: OpenServer,
  method: string,
  target: string,
  { host = "a" } = {},
): string {
  return `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}

/** A request with a body of one byte a character. */
function post(
  server: OpenServer,
  body: string,
  options: PostOptions = {},
): string {
  const {
    method = "POST",
    path = "/v1/pets",
    host = "a",
    key = server.key,
    type = "application/json",
    length = body.length,
    more = "",
  } = options;
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${length}\r\n${more}\r\n${body}`;
}

function chunked(
  { key }: OpenServer,
  chunks: readonly string[],
  { isOpen = false } = {},
): string {
  const body = chunks.map((chunk) =>
    `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  ).join("");
  return `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}${
      isOpen ? "" : "0\r\n\r\n"
    }`;
}

/** Sends one request, whole or not, and returns its answer. */
async function one(server: OpenServer, sent: string): Promise<Answer> {
  const { answers, raw } = await exchange(server.port, [sent]);
  const [answer] = answers;
  assert.ok(
    answer !== undefined,
    `No answer to ${JSON.stringify(sent)}: ${JSON.stringify(raw)}`,
  );
  return answer;
}

function list(server: OpenServer): Promise<Answer> {
  return one(server, head(server, "GET", "/v1/pets"));
}
