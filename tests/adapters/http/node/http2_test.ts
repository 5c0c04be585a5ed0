import assert from "node:assert/strict";
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type Http2Server,
} from "node:http2";
import type { TestContext } from "node:test";
import { LINGER } from "../../../../adapters/http/node/unread_body.ts";
import { atEnd } from "../../../support/at_end.ts";
import { listenOn } from "../../../support/server.ts";
import { listenerOf, pets, streamOf, testOnNode as test } from "./on_node.ts";
import { ok, sendBack } from "../stage.ts";
import type { Service } from "../../../../mod.ts";
import { REX_JSON } from "../../../support/pets.ts";

const KEY = { authorization: "Bearer secret" };

/** Connects to a server of Node's `http2`, which `look` may inspect. */
async function openSession(
  t: TestContext,
  service: Service,
  look: (server: Http2Server) => void = () => {},
): Promise<ClientHttp2Session> {
  const server = createServer(listenerOf(service) as () => void);
  look(server);
  const session = connect(`http://127.0.0.1:${await listenOn(t, server)}`);
  atEnd(t, () => session.close());
  return session;
}

/** Sends a request, and returns status and body. */
async function ask(
  session: ClientHttp2Session,
  fields: Readonly<Record<string, string>>,
  body?: string,
): Promise<readonly [number, string]> {
  const stream = session.request({ ...KEY, ...fields }).setEncoding("utf8");
  stream.end(body);
  let status = NaN;
  stream.once("response", (answer) => status = Number(answer[":status"]));
  let text = "";
  for await (const chunk of stream) text += chunk;
  return [status, text];
}

test("toNodeListener serves HTTP/2: a list, a create, and a create without a body", async (t) => {
  const { mock } = t.mock.method(globalThis, "setTimeout");
  const session = await openSession(t, pets());
  const list = { ":path": "/v1/pets" };
  assert.deepEqual(await ask(session, list), [200, "[]"]);
  const post = { ...list, ":method": "POST" };
  const typed = { ...post, "content-length": `${REX_JSON.length}` };
  for (const fields of [post, typed]) {
    assert.equal((await ask(session, fields, REX_JSON))[0], 201);
  }
  const text = { ...post, "content-type": "text/plain" };
  const [missing, why] = await ask(session, text);
  assert.equal(missing, 400);
  assert.match(why, /is missing/);
  const waits = mock.calls.filter((call) => call.arguments[1] === LINGER);
  assert.deepEqual(waits, [], "no answer waits for the end of its request");
});

test("toNodeListener reads an HTTP/2 body of several frames", async (t) => {
  const post = { ":path": "/echo", ":method": "POST" };
  const session = await openSession(t, sendBack);
  // Frames that Node passes on as slices of one buffer.
  for (const body of ["abc", "0123456789".repeat(30_000)]) {
    assert.deepEqual(await ask(session, post, body), [200, body]);
  }
});

test("a client that cancels its HTTP/2 request cancels the body of the answer", async (t) => {
  const cancelled = Promise.withResolvers<unknown>();
  let leave = (): void => {};
  const endless = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel: cancelled.resolve,
    });
  const service: Service = async () => {
    setImmediate(() => leave());
    return ok(endless());
  };
  const session = await openSession(t, service);
  const stream = session.request({ ":path": "/endless" }).resume();
  leave = () => stream.close(constants.NGHTTP2_CANCEL);
  assert.match(
    String(await cancelled.promise),
    /^AbortError: The client closed the connection/,
  );
});

test("requests of an HTTP/2 connection leave no listener on it", async (t) => {
  const service: Service = async () => ok(streamOf("a", "b"));
  const counts: number[] = [];
  const session = await openSession(t, service, (server) => {
    server.on("connection", (socket) => {
      server.on("request", () => counts.push(socket.listenerCount("close")));
    });
  });
  for (let i = 0; i < 5; i++) {
    const [, text] = await ask(session, { ":path": "/" });
    assert.equal(text, "ab");
  }
  assert.equal(counts.length, 5);
  assert.equal(new Set(counts).size, 1, counts.join());
});
