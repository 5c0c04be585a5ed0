import assert from "node:assert/strict";
import { type Handler, toFetch } from "../../../core/handler.ts";
import type { ServiceRequest } from "../../../core/http/message.ts";
import type { Wire } from "../../contract/wire.ts";
import { speakingWell, testOnNode as test } from "./on_node.ts";

const HEAD = "POST /a HTTP/1.1\r\nHost: c\r\nContent-Length: 3\r\n\r\n";

/** Serves what `read` makes of a request, as the service sees it, while `use` speaks to it. */
function speaking(
  read: (request: ServiceRequest) => Promise<string>,
  use: (wire: Wire) => Promise<void>,
): Promise<void> {
  return speakingWell(handlerOf(read), use);
}

/** A handler that answers 200 with this body. */
function handlerOf(
  read: (request: ServiceRequest) => Promise<string>,
): Handler {
  return toFetch(async (request) => ({
    status: 200,
    headers: {},
    body: await read(request),
  }));
}

/** Answers with the body as `arrayBuffer()` reads it. */
async function echo(request: ServiceRequest): Promise<string> {
  return decode(await request.arrayBuffer());
}

function decode(bytes: ArrayBuffer): string {
  return new TextDecoder().decode(bytes);
}

// That a body needs no Request and no stream is tested with a create.
test("arrayBuffer reads a body of a known length, or in chunks, whatever packets it comes in", async () => {
  const chunked = HEAD.replace(
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
  );
  const bodies = [
    [[`${HEAD}abc`], "abc"],
    [[HEAD, "a", "bc"], "abc"],
    [[`${chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`], "abcde"],
    [[`${chunked}3\r\nabc\r\n`, "2\r\nde\r\n0\r\n\r\n"], "abcde"],
  ] as const;
  await speaking(echo, async (wire) => {
    for (const [packets, body] of bodies) {
      for (const packet of packets) {
        wire.write(packet);
        await new Promise((go) => setTimeout(go, 20));
      }
      assert.equal((await wire.answer()).body, body);
    }
  });
});

test("arrayBuffer is empty, again and again, if there is no body", async () => {
  await speaking(async (request) => {
    assert.equal(await echo(request), "");
    assert.equal(request.bodyUsed, false);
    assert.equal(request.body, null);
    return echo(request);
  }, async (wire) => {
    wire.write("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    assert.equal((await wire.answer()).body, "");
    wire.write("POST / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.equal((await wire.answer()).body, "");
  });
});

test("arrayBuffer fails if the client goes away", async () => {
  let told = (_error: unknown): void => {};
  const failure = new Promise((resolve) => told = resolve);
  await speaking(async (request) => {
    const reading = request.arrayBuffer();
    reading.catch(told);
    return decode(await reading);
  }, async (wire) => {
    wire.write(HEAD + "a");
    await new Promise((go) => setTimeout(go, 20));
    wire.close();
    const error = await failure;
    assert(error instanceof DOMException && error.name === "AbortError");
    assert.match(error.message, /client/);
  });
});

test("arrayBuffer fails if the answer comes before the end, and the next request is read", async () => {
  let late: Promise<unknown> | undefined;
  await speaking((request) => {
    late ??= request.arrayBuffer().catch((error) => error);
    return Promise.resolve("no");
  }, async (wire) => {
    wire.write(HEAD + "a");
    assert.equal((await wire.answer()).body, "no");
    const error = await late;
    assert(error instanceof DOMException && error.name === "AbortError");
    wire.write("bc" + HEAD + "abc");
    assert.equal((await wire.answer()).body, "no");
  });
});

test("arrayBuffer tells a client that expects 100 to go on", async () => {
  await speaking(echo, async (wire) => {
    wire.write(HEAD.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
    assert.equal((await wire.answer()).status, 100);
    wire.write("abc");
    assert.equal((await wire.answer()).body, "abc");
  });
});
