/** The promises of every `serve`, tested over TCP because the bytes matter. */

import assert from "node:assert/strict";
import type {
  FetchFunction,
  ServeOptions,
  Server,
} from "../../../adapters/http/server.ts";
import { toFetch } from "../../../core/handler.ts";
import { freePort } from "../../support/process.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { Wire } from "../../contract/wire.ts";

/** A `serve` of the adapters. */
export type Serve = (
  handle: FetchFunction,
  options: ServeOptions,
) => Promise<Server>;

/** Opens what a test needs. */
interface Stage {
  /** Serves a function on a free port. */
  readonly listen: (handle: FetchFunction, port?: number) => Promise<Server>;
  /** Connects to a server, and sends a text. */
  readonly open: (server: Server, text?: string) => Promise<Wire>;
  /** Serves a function, and connects to the server. */
  readonly speak: (handle: FetchFunction) => Promise<Wire>;
  /** Lets go at the end of what a server that closes would wait for, also if the test failed before. */
  readonly atEnd: (act: () => unknown) => void;
}

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/** The start of a request with a body. */
const POST = "POST / HTTP/1.1\r\nHost: a\r\n";
const MANY_BYTES = 8 * 1024 * 1024;

/** A fetch function that tells when it is called. */
function told(
  handle: FetchFunction,
): { readonly handle: FetchFunction; readonly called: Promise<void> } {
  const { promise: called, resolve } = Promise.withResolvers<void>();
  return {
    called,
    handle(request) {
      resolve();
      return handle(request);
    },
  };
}

const sendPath: FetchFunction = (request) =>
  new Response(new URL(request.url).pathname);
const sendBack: FetchFunction = async (request) =>
  new Response(await request.text());

/** Registers the tests of one `serve`. */
export function fetchServerContract(
  register: (title: string, check: () => Promise<void>) => unknown,
  serve: Serve,
): void {
  /** Registers a test; what it opens is closed at its end, and fails it if it reported an error. */
  function it(title: string, check: (stage: Stage) => Promise<void>): void {
    register(title, async () => {
      const errors: unknown[] = [];
      const servers: Server[] = [];
      const ends: (() => unknown)[] = [];
      const stage: Stage = {
        async listen(handle, port = 0) {
          const onError = (error: unknown) => errors.push(error);
          const server = await serve(handle, { port, onError });
          servers.push(server);
          return server;
        },
        async open({ port }, text) {
          const wire = await Wire.open(port, text);
          ends.push(() => wire.close());
          return wire;
        },
        speak: async (handle) => stage.open(await stage.listen(handle)),
        atEnd: (act) => void ends.push(act),
      };
      try {
        await inTime(check(stage));
      } finally {
        // First what they would wait for.
        for (const end of ends) end();
        await inTime(Promise.all(servers.map((server) => server.close())));
      }
      assert.deepEqual(errors, []);
    });
  }

  it("serve says where it listens, on this machine unless told otherwise", async ({ listen }) => {
    const server = await listen(() => new Response("hello"));
    assert.equal(server.hostname, "127.0.0.1");
    assert.equal(server.url, `http://127.0.0.1:${server.port}`);
    const response = await fetch(server.url);
    assert.equal(await response.text(), "hello");
  });

  it("serve refuses an option that it does not have, and names those it has", async () => {
    const options = { port: 0, basePath: "/v2" };
    await assert.rejects(async () => await serve(sendPath, options), {
      name: "TypeError",
      message: /^Unknown option basePath: serve has port, hostname, onError/,
    });
  });

  it("serve rejects if the port is taken, and says so", async ({ listen }) => {
    const { port } = await listen(() => new Response());
    await assert.rejects(serve(() => new Response(), { port }), {
      message: `Cannot listen on 127.0.0.1:${port}: the address is in use`,
    });
  });

  it("a request has the method, URL, header and body that were sent", async ({ speak }) => {
    const wire = await speak(async (request) => {
      const { method, url, headers } = request;
      assert(request instanceof Request && headers instanceof Headers);
      const body = await request.text();
      return Response.json([method, url, headers.get("X-A"), body]);
    });
    wire.write("PUT /a/b?c=%20d HTTP/1.1\r\nHost: example.com:8080\r\n");
    wire.write("x-a: \xe9\r\nContent-Length: 5\r\n\r\nhello");
    const { status, body } = await wire.answer("PUT");
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(Buffer.from(body, "latin1").toString()), [
      "PUT",
      "http://example.com:8080/a/b?c=%20d",
      "\xe9",
      "hello",
    ]);
  });

  it("a repeated field, Authorization too, is joined by commas", async ({ speak }) => {
    const wire = await speak((request) =>
      new Response(request.headers.get("authorization"))
    );
    wire.write("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\n");
    wire.write("Authorization: c\r\n\r\n");
    assert.equal((await wire.answer()).body, "b, c");
  });

  it("no Host changes the path of a request, or makes its URL invalid", async ({ speak }) => {
    const wire = await speak((request) => {
      const { pathname, search } = new URL(request.url);
      return new Response(
        `${request.headers.get("host")} ${pathname}${search}`,
      );
    });
    const hosts = ["a", "a b/c", "x/v1?", "x#", "u@x", "a:99999", "[::", ""];
    for (const host of hosts) {
      for (const target of ["/p/q?r", "http://b/p/q?r"]) {
        wire.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        assert.equal((await wire.answer()).body, `${host} /p/q?r`);
      }
    }
  });

  it("OPTIONS * is answered", async ({ speak }) => {
    const wire = await speak(sendPath);
    wire.write("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    const { status, body } = await wire.answer("OPTIONS");
    // Bun refuses it by itself.
    assert.deepEqual(
      [status, body],
      RUNTIME === "bun" ? [400, ""] : [200, "/*"],
    );
  });

  it("CONNECT is refused", async ({ speak }) => {
    const wire = await speak(() => assert.fail());
    wire.write("CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n");
    const { status, body } = await wire.answer("CONNECT");
    assert.deepEqual(JSON.parse(body), {
      code: "bad_request",
      message: "Cannot open tunnel: this server is not a proxy",
      status,
    });
  });

  it("text is sent with its length, and as text/plain unless told otherwise", async ({ speak }) => {
    const wire = await speak(() => new Response("é"));
    wire.write(GET);
    const { lines, body } = await wire.answer();
    assert(lines.includes("content-length: 2"), lines.join());
    assert.match(lines.join(), /content-type: text\/plain; ?charset=utf-8/i);
    assert.equal(body, "\xc3\xa9");
  });

  it("every Set-Cookie has a line of its own", async ({ speak }) => {
    const headers: [string, string][] = [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ];
    const wire = await speak(() => new Response("", { headers }));
    wire.write(GET);
    const { lines } = await wire.answer();
    assert(lines.includes("set-cookie: a=1"), lines.join());
    assert(lines.includes("set-cookie: b=2"), lines.join());
  });

  it("HEAD is answered with the header of GET, or the length that is given, and no body", async ({ speak }) => {
    const headers = { "content-length": "7" };
    const wire = await speak(({ url }) =>
      url.endsWith("/7")
        ? new Response(null, { headers })
        : new Response("hello")
    );
    for (const [path, length] of [["/", 5], ["/7", 7]]) {
      wire.write(GET.replace("GET /", `HEAD ${path}`));
      const { lines } = await wire.answer("HEAD");
      assert(lines.includes(`content-length: ${length}`), lines.join());
    }
    wire.write(GET);
    assert.equal((await wire.answer()).body, "hello");
  });

  it("204 and 304 have no body, and the connection goes on", async ({ speak }) => {
    const wire = await speak((request) => {
      const status = Number(new URL(request.url).pathname.slice(1));
      return new Response(status === 200 ? "hello" : null, { status });
    });
    for (const status of [204, 304, 200]) {
      wire.write(`GET /${status} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const answer = await wire.answer();
      assert.equal(answer.status, status);
      const hasLength = answer.lines.join().includes("content-length");
      assert.equal(hasLength, status === 200);
    }
  });

  it("a stream is sent in full and in order, however slow its reader", async ({ speak }) => {
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
    const wire = await speak(() => new Response(stream));
    wire.pause();
    wire.write(GET);
    let before = -1;
    while (before < pulled || pulled === 0) {
      before = pulled;
      await aMoment();
    }
    assert(pulled < 500, `${pulled} chunks are piled up`);
    wire.resume();
    const { body } = await wire.answer();
    assert(body === chunks.join(""), "a chunk is out of its place");
  });

  it("a chunk of a stream is sent while the next is waited for", async ({ listen }) => {
    const { readable, writable } = new TextEncoderStream();
    const { url } = await listen(() => new Response(readable));
    const writer = writable.getWriter();
    void writer.write("first");
    const reader = (await fetch(url)).body?.getReader();
    const next = async () =>
      new TextDecoder().decode((await reader?.read())?.value);
    assert.equal(await next(), "first");
    void writer.write("last");
    assert.equal(await next(), "last");
    await writer.close();
  });

  it("a function is given the request alone, and may send its body back while it arrives, or pass it on to a service", async ({ speak }) => {
    const echo = toFetch(async ({ body }) => ({
      status: 200,
      headers: {},
      body,
    }));
    assert.equal(echo.length, 1);
    const sendBody: FetchFunction = ({ body }) => new Response(body);
    for (const handle of [sendBody, echo]) {
      const wire = await speak((...given: [Request]) => {
        assert.equal(given.length, 1);
        return handle(...given);
      });
      wire.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
      wire.write("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
      assert.equal((await wire.answer()).body, "hello world");
    }
  });

  it("pipelined requests are answered in order", async ({ speak }) => {
    // All are answered at once: Bun closes the connection if an answer has to wait.
    const wire = await speak(sendPath);
    wire.write(["/1", "/2", "/3"].map((p) => GET.replace("/", p)).join(""));
    for (const path of ["/1", "/2", "/3"]) {
      assert.equal((await wire.answer()).body, path);
    }
  });

  const NONE = /^The fetch function did not return a Response$/;
  const USED =
    /^The fetch function returned a Response already read$|already used|consumed|^ReadableStream is locked$/;
  const ERROR = RUNTIME === "node" ? /status code: 0/ : NONE;
  const failures: readonly (readonly [string, RegExp, FetchFunction])[] = [
    ["throws", /secret/, () => {
      throw new Error("secret");
    }],
    ["rejects", /secret/, () => Promise.reject(new Error("secret"))],
    ["resolves to no Response", NONE, () => Promise.resolve("secret" as never)],
    ["returns a part of one", NONE, () => ({ status: 200 }) as never],
    ["returns Response.error()", ERROR, () => Response.error()],
    ["returns a Response already read", USED, async () => {
      const response = new Response("secret");
      await response.text();
      return response;
    }],
    ["returns a Response being read", USED, () => {
      const response = new Response("secret");
      response.body?.getReader();
      return response;
    }],
    [
      "returns a field that cannot be sent",
      /x-a/,
      () => new Response("secret", { headers: { "x-a": "a\x01" } }),
    ],
  ];
  for (const [what, message, handle] of failures) {
    it(`a fetch function that ${what} is answered for with 500, and reported`, async () => {
      const errors: unknown[] = [];
      const onError = (error: unknown): never => {
        errors.push(error);
        throw new Error("the reporter fails too");
      };
      const server = await serve(
        (request) =>
          request.url.endsWith("/ok") ? new Response("ok") : handle(request),
        { port: 0, onError },
      );
      const wire = await Wire.open(server.port, GET);
      const { status, lines, body } = await wire.answer();
      assert.equal(status, 500);
      assert(lines.includes("content-type: application/json"), lines.join());
      assert.deepEqual(JSON.parse(body), {
        code: "internal_error",
        message: "Something went wrong on our side",
        status: 500,
      });
      const [error, ...more] = errors;
      assert(error instanceof Error);
      assert.match(error.message, message);
      assert.deepEqual(more, []);
      wire.write(GET.replace("/", "/ok"));
      assert.equal((await wire.answer()).body, "ok");
      wire.close();
      await server.close();
    });
  }

  it("a client that goes away in the middle of its body fails the reader", async ({ speak }) => {
    const failed = Promise.withResolvers<unknown>();
    const { handle, called } = told(async (request) => {
      await request.text().then(failed.resolve, failed.resolve);
      return new Response();
    });
    const wire = await speak(handle);
    wire.write(`${POST}Content-Length: 9\r\n\r\nabc`);
    await called;
    wire.close();
    assert(await failed.promise instanceof Error);
  });

  it("a client that goes away cancels the body of its answer", async ({ speak }) => {
    const cancelled = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(8)),
      cancel: () => cancelled.resolve(),
    });
    const wire = await speak(() => new Response(body));
    wire.write(GET);
    await wire.until((text) => text.includes("\0"), 10_000);
    wire.close();
    await cancelled.promise;
  });

  it("a client that goes away aborts the signal of its request", async ({ speak, atEnd }) => {
    const aborted = Promise.withResolvers<void>();
    atEnd(aborted.resolve);
    const { handle, called } = told(async ({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      await aborted.promise;
      return new Response();
    });
    const wire = await speak(handle);
    wire.write(GET);
    await called;
    wire.close();
    await aborted.promise;
  });

  it("an answer given before a long body has come reaches the client", async ({ speak }) => {
    const wire = await speak(() => new Response("no", { status: 413 }));
    const half = "a".repeat(200_000);
    wire.write(`${POST}Content-Length: 400000\r\n\r\n${half}`);
    const { status, body } = await wire.answer("POST");
    assert.equal(status, 413);
    assert.equal(body, "no");
  });

  it("a client that expects 100 is told so when its body is read; other expectations are ignored", async ({ speak }) => {
    const wire = await speak(sendBack);
    const start = `${POST}Content-Length: 5\r\n`;
    wire.write(`${start}Expect: 100-continue\r\n\r\n`);
    assert.equal((await wire.answer()).status, 100);
    wire.write("hello");
    assert.equal((await wire.answer()).body, "hello");
    wire.write(`${start}Expect: more\r\n\r\nhello`);
    assert.equal((await wire.answer()).body, "hello");
  });

  it("close is prompt if connections are idle, and may be called again", async ({ listen, open }) => {
    const server = await listen(() => new Response("ok"), await freePort());
    const idle = await open(server, GET);
    await idle.answer();
    await open(server); // silent
    const halfway = await open(server, "GET / HTTP/1.1\r\nHo");
    await aMoment();
    const start = Date.now();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    assert(Date.now() - start < 4000); // Node would wait 5 s for the idle one
    // Of the silent one Bun has never heard: Linux holds it back until it sends something.
    for (const wire of [idle, halfway]) assert.equal(await wire.rest(), "");
    await assert.rejects(open(server));
  });

  for (const isOnItsWay of [false, true]) {
    const what = isOnItsWay ? "an answer on its way" : "a request";
    it(`close waits until ${what} is answered in full`, async ({ listen, open, atEnd }) => {
      const answer = Promise.withResolvers<Response>();
      const give = () => answer.resolve(new Response("a".repeat(MANY_BYTES)));
      atEnd(give);
      const { handle, called } = told(() => answer.promise);
      const server = await listen(handle, await freePort());
      const wire = await open(server, GET);
      wire.pause();
      await called;
      if (isOnItsWay) give();
      await aMoment();
      let isClosed = false;
      void server.close();
      // Whoever asks again waits as well.
      const closed = server.close().then(() => isClosed = true);
      await assert.rejects(open(server));
      give();
      await aMoment();
      assert.equal(isClosed, false);
      wire.resume();
      assert.equal((await wire.answer()).body.length, MANY_BYTES);
      await closed;
    });
  }

  it("close waits for a request body that is on its way", async ({ listen, open }) => {
    const { handle, called } = told(sendBack);
    const server = await listen(handle);
    const start = `${POST}Content-Length: 10\r\n\r\nhalf `;
    const wire = await open(server, start);
    await called;
    const closed = server.close();
    await aMoment();
    wire.write("whole");
    const { status, body } = await wire.answer();
    assert.deepEqual([status, body], [200, "half whole"]);
    await closed;
  });
}

/** Fails if something takes longer than 30 s, so that a test that hangs says so itself. */
async function inTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const fail = () => late.reject(new Error("It takes longer than 30 s"));
  const timer = setTimeout(fail, 30_000);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
