import assert from "node:assert/strict";
import { inspect } from "node:util";
import { serve } from "../../../adapters/node/mod.ts";
import { Wire } from "../../contract/wire.ts";
import { testOnNode } from "./on_node.ts";

const POST = "POST /a?b HTTP/1.1\r\nHost: c\r\nX-A: 1\r\nx-a: 2\r\n" +
  "Content-Type: application/x-www-form-urlencoded\r\n" +
  "Content-Length: 3\r\n\r\nd=e";

/** Serves one request, given as bytes, and looks at it from within. */
async function receive(
  bytes: string,
  look: (request: Request) => unknown,
): Promise<void> {
  const errors: unknown[] = [];
  const server = await serve(async (request) => {
    await look(request);
    return new Response("ok");
  }, { port: 0, onError: (error) => errors.push(error) });
  const wire = await Wire.open(server.port, bytes);
  try {
    const { body } = await wire.answer();
    assert.deepEqual(errors, []);
    assert.equal(body, "ok");
  } finally {
    wire.close();
    await server.close();
  }
}

testOnNode(
  "a request is a Request to instanceof, and to whoever prints it",
  async () => {
    await receive(POST, (request) => {
      assert(request instanceof Request);
      assert.equal(Object.prototype.toString.call(request), "[object Request]");
      assert.match(inspect(request), /http:\/\/c\/a\?b/);
      assert.equal(request.method, "POST");
      assert.equal(request.redirect, "follow");
      assert.equal(request.bodyUsed, false);
    });
  },
);

testOnNode("a request reads its body as any type", async () => {
  await receive(POST, async (request) => {
    assert.equal(await request.text(), "d=e");
    assert.equal(request.bodyUsed, true);
    await assert.rejects(request.text(), TypeError);
    assert.throws(() => request.clone(), TypeError);
  });
  await receive(POST, async (request) => {
    assert.equal((await request.formData()).get("d"), "e");
  });
  await receive(POST, async (request) => {
    assert.equal((await request.bytes()).length, 3);
  });
  await receive(POST, async (request) => {
    await assert.rejects(request.json(), SyntaxError);
  });
});

testOnNode("a request's body is a byte stream", async () => {
  await receive(POST, async ({ body }) => {
    assert(body instanceof ReadableStream);
    const reader = body.getReader({ mode: "byob" });
    const two = await reader.read(new Uint8Array(2));
    assert.deepEqual(two.value, new Uint8Array([100, 61]));
    const one = await reader.read(new Uint8Array(2));
    assert.deepEqual(one.value, new Uint8Array([101]));
    const none = await reader.read(new Uint8Array(2));
    assert.equal(none.done, true);
  });
});

testOnNode("a request can be cloned, and the clone derived from", async () => {
  await receive(POST, async (request) => {
    request.headers.set("x-a", "3");
    const clone = request.clone();
    const derived = new Request(clone, { headers: { "x-b": "4" } });
    assert.equal(clone.headers.get("x-a"), "3");
    assert.equal(derived.headers.get("x-b"), "4");
    assert.equal(await derived.text(), "d=e");
    assert.equal(await request.text(), "d=e");
  });
});

testOnNode("a request is an init for another", async () => {
  await receive(POST, async (request) => {
    const other = new Request("http://x/y", request);
    assert.equal(other.url, "http://x/y");
    assert.equal(other.method, "POST");
    assert.equal(other.headers.get("x-a"), "1, 2");
    assert.equal(await other.text(), "d=e");
  });
});

testOnNode("a request's headers are Headers", async () => {
  await receive(POST, ({ headers }) => {
    assert(headers instanceof Headers);
    assert.equal(headers.get("X-a"), "1, 2");
    assert.equal(headers.get("x-b"), null);
    assert.equal(headers.has("HOST"), true);
    assert.throws(() => headers.get("a b"), TypeError);
    assert.throws(() => headers.get(""), TypeError);
    const expected = [
      ["content-length", "3"],
      ["content-type", "application/x-www-form-urlencoded"],
      ["host", "c"],
      ["x-a", "1, 2"],
    ];
    assert.deepEqual([...headers], expected);
    assert.deepEqual([...new Headers(headers)], expected);
    assert.deepEqual(
      [...new Request("http://a", { headers }).headers],
      expected,
    );
    headers.append("x-a", "3");
    headers.delete("host");
    assert.equal(headers.get("x-a"), "1, 2, 3");
    assert.equal(headers.has("host"), false);
  });
});

testOnNode(
  "what is done to a request's headers is seen by all that comes of it",
  async () => {
    await receive(POST, (request) => {
      assert(request.body !== null);
      request.headers.set("x-a", "3");
      assert.equal(request.headers.get("x-a"), "3");
      assert.equal(request.clone().headers.get("x-a"), "3");
      assert.equal(new Request("http://a", request).headers.get("x-a"), "3");
    });
  },
);

testOnNode(
  "a request sees every Host and Content-Type that was sent",
  async () => {
    const bytes = "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n" +
      "Content-Type: c\r\nContent-Type: d\r\n\r\n";
    await receive(bytes, ({ url, headers }) => {
      assert.equal(headers.get("host"), "a, b");
      assert.equal(headers.get("content-type"), "c, d");
      assert.equal(url, "http://localhost/");
    });
  },
);

testOnNode("a body that someone reads is no other's to read", async () => {
  await receive(POST, async (request) => {
    assert.equal(request.bodyUsed, false);
    const reader = request.body?.getReader();
    await assert.rejects(request.text(), TypeError);
    assert.equal((await reader?.read())?.done, false);
    assert.equal(request.bodyUsed, true);
    reader?.releaseLock();
    await assert.rejects(request.json(), TypeError);
    assert.throws(() => request.clone(), TypeError);
  });
});

testOnNode("HTTP/1.0 without Host reaches the fetch function", async () => {
  await receive("GET /a HTTP/1.0\r\n\r\n", ({ url, headers }) => {
    assert.equal(headers.get("host"), null);
    assert.equal(url, "http://localhost/a");
  });
});

testOnNode(
  "TRACE, which Fetch does not know, is a request like others",
  async () => {
    await receive("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", async (request) => {
      assert.equal(request.method, "TRACE");
      assert.equal(request.body, null);
      assert.equal(await request.text(), "");
    });
  },
);

testOnNode("the body of a GET is not read", async () => {
  const bytes = "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  await receive(bytes, async (request) => {
    assert.equal(request.body, null);
    assert.equal(await request.text(), "");
  });
});

testOnNode(
  "a request's signal does not abort once it is answered",
  async () => {
    let signal: AbortSignal | undefined;
    await receive(POST, (request) => {
      signal = request.signal;
      assert.equal(request.signal, signal);
    });
    assert.equal(signal?.aborted, false);
  },
);

testOnNode(
  "a body that is asked for after the answer fails to be read",
  async () => {
    let late: Promise<unknown> | undefined;
    const server = await serve((request) => {
      late = request.text().catch((error) => error);
      return new Response("ok");
    }, { port: 0 });
    const wire = await Wire.open(
      server.port,
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nd",
    );
    assert.equal((await wire.answer()).body, "ok");
    const failure = await late;
    assert(failure instanceof Error && failure.name === "AbortError");
    wire.write("=e" + POST);
    assert.equal((await wire.answer()).body, "ok");
    wire.close();
    await server.close();
  },
);
