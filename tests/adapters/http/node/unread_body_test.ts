/** Bodies that nobody reads, and clients that keep sending them. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { endLater } from "../../../../adapters/http/node/unread_body.ts";
import type { Service } from "../../../../mod.ts";
import { pets, speak, testOnNode as test } from "./on_node.ts";
import { GET, ok, saying } from "../stage.ts";
import { rawRequest } from "../../../support/wire.ts";

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
  [
    "10 s to send the rest of a body that is answered",
    10_000,
    "Content-Length: 5",
    "ab",
  ],
  ["1 s to read why it was cut off", 1000, "Transfer-Encoding: chunked", ""],
  ["1 s to read why it was refused", 1000, "garbage", ""],
  [
    "1 s to read why it does not get a 100",
    1000,
    "Expect: 100-continue\r\nContent-Length: 5",
    "",
  ],
  ["no time once its request is complete", 0, "Connection: close", ""],
] as const;
for (const [what, ms, field, body] of cases) {
  test(`a client whose connection ends has ${what}`, async (t) => {
    const { setTimeout } = globalThis;
    const asked: unknown[] = [];
    t.mock.method(globalThis, "setTimeout", (run: () => void, time = 0) => {
      const isAsked = time === 1000 || time === 10_000;
      if (isAsked) asked.push(time);
      return setTimeout(run, isAsked ? 20 : time);
    });
    const empty = saying(null, { status: 204 });
    for (const service of [saying("ok"), empty, pets()]) {
      const { wire } = await speak(t, service, { keepAliveTimeout: 0 });
      wire.write(rawRequest("POST /", [field]) + body);
      assert((await wire.answer()).status >= 200);
      assert.equal(await wire.rest(), "");
    }
    assert.deepEqual(asked, ms === 0 ? [] : [ms, ms, ms]);
  });
}

test("endLater drains at most 64 KiB of a body; a chunk counts as 64 bytes or more", async () => {
  for (const [size, count] of [[32_768, 2], [64, 1024], [1, 1024]] as const) {
    const req = Object.assign(new PassThrough(), { complete: false });
    const res = new PassThrough();
    const ended = endLater({ req, res } as never, "no");
    assert.equal(String(res.read()), "no", `${size}`);
    for (let i = 0; i <= count; i++) {
      assert.equal(req.isPaused(), false, `${size}`);
      req.emit("data", new Uint8Array(size));
    }
    assert.equal(req.isPaused(), true, `${size}`);
    req.emit("close");
    await ended;
    assert.equal(res.writableEnded, true, `${size}`);
  }
});

test("a body that is read in part does not stop the next request", async (t) => {
  const refused = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  const service: Service = async ({ method }, _connection, readBody) => {
    if (method === "GET") return ok("next");
    const limits = { maxBodyBytes: 1, bodyTimeout: 30_000 };
    const answer = await readBody(limits, 50_000);
    refused.resolve();
    await sent.promise;
    return "status" in answer ? answer : ok("whole");
  };
  const { wire, received } = await speak(t, service);
  const head = rawRequest("POST /", ["Content-Length: 50000"]);
  wire.write(`${head}ab`);
  await refused.promise;
  wire.write("a".repeat(49_998) + GET);
  await received(head.length + 50_000);
  sent.resolve();
  assert.equal((await wire.answer()).status, 413);
  assert.equal((await wire.answer()).body, "next");
});
