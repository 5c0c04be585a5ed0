/** Requests as functions see them: the service's own reads a part, any other gets a `Request`. */
import assert from "node:assert/strict";
import type { FetchFunction } from "../../../../adapters/http/node/mod.ts";
import { toFetch } from "../../../../core/handler.ts";
import type { ServiceRequest } from "../../../../core/http/message.ts";
import type { Wire } from "../../../contract/wire.ts";
import { speakingWell, testOnNode as test } from "./on_node.ts";

type Read = (request: ServiceRequest) => Promise<string>;

/** Makes a function that answers with what `read` makes of a request. */
const KINDS: Readonly<Record<string, (read: Read) => FetchFunction>> = {
  "the service's request": (read) =>
    toFetch(async (request) => ({
      status: 200,
      headers: {},
      body: await read(request),
    })),
  "a Request": (read) => async (request) => new Response(await read(request)),
};

const HEAD = "POST /a HTTP/1.1\r\nHost: c\r\nContent-Length: 3\r\n\r\n";

/** Reads a body in one piece. */
async function echo(request: ServiceRequest): Promise<string> {
  return new TextDecoder().decode(await request.arrayBuffer());
}

function assertAborted(error: unknown, message: RegExp): void {
  assert(error instanceof DOMException && error.name === "AbortError");
  assert.match(error.message, message);
}

for (const [kind, answering] of Object.entries(KINDS)) {
  const it = (
    title: string,
    read: Read,
    use: (wire: Wire) => Promise<void>,
  ) => test(`${kind} ${title}`, () => speakingWell(answering(read), use));

  it(
    "has a body of a known length, or in chunks, whatever packets it comes in",
    echo,
    async (wire) => {
      const chunked = HEAD.replace(/Con.*3/, "Transfer-Encoding: chunked");
      const bodies = [
        [[`${HEAD}abc`], "abc"],
        [[HEAD, "a", "bc"], "abc"],
        [[`${chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`], "abcde"],
        [[`${chunked}3\r\nabc\r\n`, "2\r\nde\r\n0\r\n\r\n"], "abcde"],
      ] as const;
      for (const [packets, body] of bodies) {
        for (const packet of packets) {
          wire.write(packet);
          await new Promise((go) => setTimeout(go, 20));
        }
        assert.equal((await wire.answer()).body, body);
      }
    },
  );

  it(
    "is empty, again and again, if it is a GET or has no bytes",
    async (request) => {
      assert.equal(await echo(request), "");
      assert.equal(request.bodyUsed, false);
      assert.equal(request.body, null);
      return await echo(request);
    },
    async (wire) => {
      const heads = [
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
      ];
      for (const head of heads) {
        wire.write(head);
        assert.equal((await wire.answer()).body, "");
      }
    },
  );

  it(
    "has all values of a field, whatever the case of its name",
    ({ headers }) => {
      const names = ["host", "X-Y", "z", "undefined"];
      return Promise.resolve(names.map((name) => headers.get(name)).join("; "));
    },
    async (wire) => {
      wire.write("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n");
      wire.write("x-y: c\r\nX-Y: HOST\r\nA: z\r\n\r\n");
      assert.equal((await wire.answer()).body, "a, b; c, HOST; ; ");
    },
  );

  for (const isLate of [false, true]) {
    const begun = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<unknown>();
    const reader = isLate ? "a reader that begins later" : "its reader";
    it(`fails ${reader} if the client goes away`, async (request) => {
      begun.resolve();
      if (isLate) await left.promise;
      const reading = echo(request);
      reading.catch(failed.resolve);
      return await reading;
    }, async (wire) => {
      wire.write(HEAD + "a");
      await begun.promise;
      wire.close();
      setTimeout(left.resolve, 50);
      assertAborted(await failed.promise, /client/);
    });
  }

  let late: Promise<unknown> | undefined;
  it(
    "fails its reader if the answer comes before its end, and the next is read",
    (request) => {
      late ??= request.arrayBuffer().catch((error) => error);
      return Promise.resolve("no");
    },
    async (wire) => {
      wire.write(HEAD + "a");
      assert.equal((await wire.answer()).body, "no");
      assertAborted(await late, /answered/);
      wire.write("bc" + HEAD + "abc");
      assert.equal((await wire.answer()).body, "no");
    },
  );
}

test("a Request's body is a byte stream, and its signal does not abort once it is answered", async () => {
  let signal: AbortSignal | undefined;
  await speakingWell(async (request) => {
    signal = request.signal;
    assert(request.body instanceof ReadableStream);
    const reader = request.body.getReader({ mode: "byob" });
    const read = async () => (await reader.read(new Uint8Array(2))).value;
    assert.deepEqual(await read(), new Uint8Array([97, 98]));
    assert.deepEqual(await read(), new Uint8Array([99]));
    assert.equal((await reader.read(new Uint8Array(2))).done, true);
    return new Response("ok");
  }, async (wire) => {
    wire.write(`${HEAD}abc`);
    assert.equal((await wire.answer()).body, "ok");
  });
  assert.equal(signal?.aborted, false);
});

test("a Request's body may be cancelled at any time, also while it comes", async () => {
  const ways: readonly ((body: ReadableStream) => Promise<unknown>)[] = [
    (body) => body.cancel(),
    (body) => {
      const reader = body.getReader();
      return Promise.all([reader.read(), reader.cancel()]);
    },
    async (body) => {
      const reader = body.getReader();
      await reader.read();
      await reader.cancel();
    },
  ];
  const chunked = HEAD.replace(/Con.*3/, "Transfer-Encoding: chunked");
  for (const cancel of ways) {
    await speakingWell(async ({ body }) => {
      await cancel(body as ReadableStream);
      return new Response("ok");
    }, async (wire) => {
      for (const whole of [`${HEAD}abc`, `${chunked}0\r\n\r\n`]) {
        wire.write(whole);
        assert.equal((await wire.answer()).body, "ok");
      }
      wire.write(`${HEAD}a`);
      await new Promise((go) => setTimeout(go, 20));
      wire.write(`bc${HEAD}abc`);
      for (let i = 0; i < 2; i++) {
        assert.equal((await wire.answer()).body, "ok");
      }
    });
  }
});
