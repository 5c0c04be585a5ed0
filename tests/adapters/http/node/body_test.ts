/** Bodies of requests, as Node's adapter reads them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Answer, BodyLimits, Service } from "../../../../mod.ts";
import { speak, testOnNode as test } from "./on_node.ts";
import { rawRequest } from "../../../support/wire.ts";
import { GET, ok, readAll, sendBack } from "../stage.ts";

const HEAD = rawRequest("POST /a", ["Content-Length: 3"]);
const CHUNKED = rawRequest("POST /a", ["Transfer-Encoding: chunked"]);

test("a body of a known length or in chunks is read, whatever packets it comes in", async (t) => {
  const { wire, received } = await speak(t, sendBack);
  let sent = 0;
  const bodies = [
    [[`${HEAD}abc`], "abc"],
    [[HEAD, "a", "bc"], "abc"],
    [[`${CHUNKED}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`], "abcde"],
    [[`${CHUNKED}3\r\nabc\r\n`, "2\r\nde\r\n0\r\n\r\n"], "abcde"],
  ] as const;
  for (const [packets, body] of bodies) {
    for (const packet of packets) {
      wire.write(packet);
      await received(sent += packet.length);
    }
    assert.equal((await wire.answer()).body, body);
  }
});

test("a body that arrived in several packets before it is read is whole", async (t) => {
  const arrived = Promise.withResolvers<void>();
  const service: Service = async ({ headers }, _connection, readBody) => {
    await arrived.promise;
    const length = Number(headers.get("content-length"));
    return await readAll(readBody, length);
  };
  const { wire, received } = await speak(t, service);
  let sent = 0;
  for (const packet of [HEAD, "a", "bc"]) {
    wire.write(packet);
    await received(sent += packet.length);
  }
  arrived.resolve();
  assert.equal((await wire.answer()).body, "abc");
  wire.write(GET);
  assert.equal((await wire.answer()).status, 200);
});

test("a body without bytes is empty, however often it is read", async (t) => {
  const service: Service = async (_request, _connection, readBody) => {
    await readAll(readBody);
    return await readAll(readBody);
  };
  const { wire } = await speak(t, service);
  const requests = [GET, rawRequest("POST /"), rawRequest("POST /", [], "")];
  for (const request of requests) {
    wire.write(request);
    assert.equal((await wire.answer()).body, "", request);
  }
});

test("a service is given all values of a field, whatever the case of its name", async (t) => {
  const names = ["host", "X-Y", "z", "undefined"];
  const service: Service = async ({ headers }) =>
    ok(names.map((name) => headers.get(name)).join("; "));
  const { wire } = await speak(t, service);
  const fields = ["Host: a", "Host: b", "x-y: c", "X-Y: HOST", "A: z"];
  wire.write(rawRequest("GET /", fields));
  assert.equal((await wire.answer()).body, "a, b; c, HOST; ; ");
});

// That it goes away while it is read is a promise of every `serve`.
test("a body whose client goes away before it is read is cut short", async (t) => {
  const answered = Promise.withResolvers<Answer>();
  const service: Service = async (_request, connection, readBody) => {
    await once(connection as Socket, "close");
    const answer = await readAll(readBody, 3);
    answered.resolve(answer);
    return answer;
  };
  const { wire, received } = await speak(t, service);
  wire.write(HEAD + "a");
  await received(HEAD.length);
  wire.close();
  assert.match(String((await answered.promise).body), /cut short/);
});

/** Reads a body within limits, and answers with the result. */
function reading(limits: BodyLimits): Service {
  return async ({ headers }, _connection, readBody) => {
    const length = headers.get("content-length");
    const known = length === null ? undefined : Number(length);
    await null; // as the service, which looks for the key first
    const bytes = await readBody(limits, known);
    return "status" in bytes ? bytes : ok(`${bytes.byteLength}`);
  };
}

test("a body in chunks is refused if it comes in too many tiny pieces", async (t) => {
  const limits = { maxBodyBytes: 1000, bodyTimeout: 30_000 };
  for (const [count, status] of [[256, 200], [257, 413]] as const) {
    const { wire } = await speak(t, reading(limits));
    wire.write(`${CHUNKED}${"1\r\na\r\n".repeat(count)}0\r\n\r\n`);
    assert.equal((await wire.answer()).status, status, `${count}`);
  }
});

test("a body that stops arriving is 408; one that came with the header has no timer", async (t) => {
  const { mock } = t.mock.method(globalThis, "setTimeout");
  const limits = { maxBodyBytes: 1000, bodyTimeout: 23 };
  const timers = () => mock.calls.filter((call) => call.arguments[1] === 23);
  const { wire } = await speak(t, reading(limits));
  wire.write(`${HEAD}abc`);
  assert.equal((await wire.answer()).body, "3");
  assert.equal(timers().length, 0);
  wire.write(`${HEAD}a`);
  assert.equal((await wire.answer()).status, 408);
  assert.equal(timers().length, 1);
  wire.write("bc");
  assert.equal(await wire.rest(), "");
});
