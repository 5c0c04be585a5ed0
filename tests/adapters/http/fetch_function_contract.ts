/**
 * The promises of every `serve` that accepts any fetch function, tested over TCP because the bytes
 * matter.
 */

import assert from "node:assert/strict";
import type {
  FetchFunction,
  ServeOptions,
  Server,
} from "../../../adapters/http/server.ts";
import { atEnd } from "../../support/at_end.ts";
import { openWire, rawRequest } from "../../support/wire.ts";
import { assertNoTunnel, GET, staging } from "./stage.ts";

/** Registers the tests of one `serve`. */
export function fetchFunctionContract(
  register: Parameters<typeof staging>[0],
  serve: (handle: FetchFunction, options: ServeOptions) => Promise<Server>,
): void {
  const it = staging(register, serve);

  it("a request has the method, URL, header and body that were sent", async ({ speak }) => {
    const wire = await speak(async (request) => {
      const { method, url, headers } = request;
      assert(request instanceof Request && headers instanceof Headers);
      const body = await request.text();
      return Response.json([method, url, headers.get("X-A"), body]);
    });
    const fields = ["Host: example.com:8080", "x-a: \xe9"];
    wire.write(rawRequest("PUT /a/b?c=%20d", fields, "hello"));
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
    wire.write(rawRequest("GET /", ["Authorization: b", "Authorization: c"]));
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
        wire.write(rawRequest(`GET ${target}`, [`Host: ${host}`]));
        assert.equal((await wire.answer()).body, `${host} /p/q?r`);
      }
    }
  });

  it("CONNECT is refused", async ({ speak }) => {
    await assertNoTunnel(await speak(() => assert.fail("it is asked")));
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

  it("a function is given the request alone, and may send its body back as it arrives", async ({ speak }) => {
    const wire = await speak((...given: [Request]) => {
      assert.equal(given.length, 1);
      return new Response(given[0].body);
    });
    wire.write(rawRequest("POST /", ["Transfer-Encoding: chunked"]));
    wire.write("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    assert.equal((await wire.answer()).body, "hello world");
  });

  const NONE = /^Cannot answer: the fetch function did not return a Response$/;
  const USED = /already used|consumed|^ReadableStream is locked$/;
  const failures: readonly (readonly [string, RegExp, FetchFunction])[] = [
    ["throws", /secret/, () => {
      throw new Error("secret");
    }],
    ["rejects", /secret/, () => Promise.reject(new Error("secret"))],
    ["resolves to no Response", NONE, () => Promise.resolve("secret" as never)],
    ["returns a part of one", NONE, () => ({ status: 200 }) as never],
    ["returns Response.error()", NONE, () => Response.error()],
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
    it(
      `a fetch function that ${what} is answered for with 500, and reported`,
      async (_, t) => {
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
        atEnd(t, () => server.close());
        const wire = await openWire(t, server, GET);
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
        wire.write(rawRequest("GET /ok"));
        assert.equal((await wire.answer()).body, "ok");
      },
    );
  }

  it(
    "a client that goes away aborts the signal of its request",
    async ({ speak }, t) => {
      const aborted = Promise.withResolvers<void>();
      atEnd(t, aborted.resolve);
      const called = Promise.withResolvers<void>();
      const wire = await speak(async ({ signal }) => {
        called.resolve();
        signal.addEventListener("abort", () => aborted.resolve());
        await aborted.promise;
        return new Response();
      });
      wire.write(GET);
      await called.promise;
      wire.close();
      await aborted.promise;
    },
  );
}
