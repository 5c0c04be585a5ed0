import assert from "node:assert/strict";
import { speakingWell, testOnNode as test } from "./on_node.ts";

const POST = "POST /a?b HTTP/1.1\r\nHost: c\r\nX-A: 1\r\nx-a: 2\r\n" +
  "Content-Type: application/x-www-form-urlencoded\r\n" +
  "Content-Length: 3\r\n\r\nd=e";

/** Serves one request, given as bytes, and looks at it from within. */
async function receive(
  bytes: string,
  look: (request: Request) => unknown,
): Promise<void> {
  await speakingWell(async (request) => {
    await look(request);
    return new Response("ok");
  }, async (wire) => {
    wire.write(bytes);
    assert.equal((await wire.answer()).body, "ok");
  });
}

test("a request's body is a byte stream", async () => {
  await receive(POST, async ({ body }) => {
    assert(body instanceof ReadableStream);
    const reader = body.getReader({ mode: "byob" });
    const read = async () => (await reader.read(new Uint8Array(2))).value;
    assert.deepEqual(await read(), new Uint8Array([100, 61]));
    assert.deepEqual(await read(), new Uint8Array([101]));
    assert.equal((await reader.read(new Uint8Array(2))).done, true);
  });
});

test("a request sees every Host and Content-Type that was sent", async () => {
  const bytes = "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n" +
    "Content-Type: c\r\nContent-Type: d\r\n\r\n";
  await receive(bytes, ({ url, headers }) => {
    assert.equal(headers.get("host"), "a, b");
    assert.equal(headers.get("content-type"), "c, d");
    assert.equal(url, "http://localhost/");
  });
});

test("a GET has no body, nor has what has no bytes", async () => {
  for (const [method, length] of [["GET", 3], ["POST", 0]] as const) {
    const head = `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}`;
    await receive(
      `${head}\r\n\r\n${"abc".slice(0, length)}`,
      async (request) => {
        assert.equal(request.body, null);
        assert.equal(await request.text(), "");
      },
    );
  }
});

test("a request's signal does not abort once it is answered", async () => {
  let signal: AbortSignal | undefined;
  await receive(POST, (request) => {
    signal = request.signal;
    assert.equal(request.signal, signal);
  });
  assert.equal(signal?.aborted, false);
});

test("a body that is asked for after the answer fails to be read", async () => {
  let late: Promise<unknown> | undefined;
  await speakingWell((request) => {
    late = request.text().catch((error) => error);
    return new Response("ok");
  }, async (wire) => {
    wire.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nd");
    assert.equal((await wire.answer()).body, "ok");
    const failure = await late;
    assert(failure instanceof Error && failure.name === "AbortError");
    wire.write("=e" + POST);
    assert.equal((await wire.answer()).body, "ok");
  });
});
