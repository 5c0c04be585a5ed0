/** `toNodeListener` on a server of one's own, behind a framework or another parser. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { NodeListener } from "../../../../adapters/http/node/mod.ts";
import type { Service } from "../../../../mod.ts";
import { listenerOf, pets, speakTo, testOnNode as test } from "./on_node.ts";
import { GET, ok, readAll, saying } from "../stage.ts";
import { listenOn } from "../../../support/server.ts";
import { openWire, rawRequest, WITH_KEY } from "../../../support/wire.ts";

const FIVE = rawRequest("POST /", ["Content-Length: 5"]);

test("toNodeListener sees the URL that was sent, also below a mount", async (t) => {
  const headers = { "content-type": "text/plain" };
  const listener = listenerOf(async ({ url }) => ({ ...ok(url), headers }));
  const counts = new Set<number>();
  const wire = await speakTo(t, (req, res) => {
    counts.add(req.socket.listenerCount("close"));
    // As Express does for app.use("/shop", listener).
    res.setHeader("X-Powered-By", "Express");
    res.setHeader("Content-Type", "text/html");
    const { url = "" } = req;
    if (url.startsWith("/tls/")) Object.assign(req.socket, { encrypted: true });
    if (url.startsWith("/shop/")) {
      Object.assign(req, { originalUrl: url, url: url.slice("/shop".length) });
    }
    listener(req, res);
  });
  const cases = [
    ["/shop/v1/pets?limit=1", "http"],
    ["/v1/pets", "http"],
    ["/tls/v1/pets", "https"],
  ];
  for (const [path, scheme] of cases) {
    const fields = ["originalUrl: /b", "X-Original-URL: /b"];
    wire.write(rawRequest(`GET ${path}`, fields));
    const { lines, body } = await wire.answer();
    assert(lines.includes("x-powered-by: Express"), lines.join());
    assert(lines.includes("content-type: text/plain"));
    assert(!lines.includes("content-type: text/html"));
    assert.equal(body, `${scheme}://a${path}`);
  }
  assert.equal(counts.size, 1, "the connection keeps no listener of a request");
});

test("a create behind another parser is a 500, and onError is told what to do", async (t) => {
  const causes: unknown[] = [];
  const service = pets({ onError: (cause) => void causes.push(cause) });
  const parsers: readonly ((next: NodeListener) => NodeListener)[] = [
    (next) => (req, res) => {
      req.resume().on("end", () => setImmediate(next, req, res));
    },
    (next) => (req, res) => next(req.setEncoding("utf8"), res),
  ];
  for (const parser of parsers) {
    const wire = await speakTo(t, parser(listenerOf(service)));
    wire.write(rawRequest("POST /v1/pets", [WITH_KEY], "right"));
    assert.equal((await wire.answer()).status, 500, `${parser}`);
    assert.match(
      String(causes.pop()),
      /mount the pet store before body/,
      `${parser}`,
    );
  }
});

test("a client that leaves while another parser reads its body ends no server", async (t) => {
  const listener = listenerOf(
    async (_request, _connection, readBody) =>
      await readAll(readBody, 5).catch((error) => ok(`${error}`)),
  );
  const wire = await speakTo(t, (req, res) => {
    req.on("error", () => {}).once("data", () => req.socket.destroy())
      .once("close", () => listener(req, res));
  });
  wire.write(`${FIVE}rig`);
  assert.equal(await wire.rest(), "");
});

test("a body that another parser reads meanwhile is gone, but whole for the parser", async (t) => {
  let read = "";
  const begun = Promise.withResolvers<void>();
  const whole = Promise.withResolvers<void>();
  const service: Service = async (_request, _connection, readBody) => {
    begun.resolve();
    await whole.promise;
    return await readAll(readBody, 5).catch((error) => ok(`${error}`));
  };
  const listener = listenerOf(service);
  const wire = await speakTo(t, (req, res) => {
    req.on("data", (chunk) => {
      read += chunk;
      if (read === "right") whole.resolve();
    }).once("data", () => {
      listener(req, res);
      req.resume();
    });
  });
  wire.write(`${FIVE}rig`);
  await begun.promise;
  wire.write("ht");
  assert.match((await wire.answer()).body, /it was read before/);
});

test("a framework's Connection field does not keep a connection that must be closed", async (t) => {
  const listener = listenerOf(saying("a"));
  const wire = await speakTo(t, (req, res) => {
    res.setHeader("Connection", "keep-alive");
    listener(req, res);
  });
  wire.write(rawRequest("GET /", ["Upgrade: x", "Connection: upgrade"]));
  const { lines } = await wire.answer();
  assert.match(lines.join(), /connection: close/i);
  assert.equal(await wire.rest(), "");
});

test("toNodeListener reports to console.error unless told otherwise", async (t) => {
  const { mock } = t.mock.method(console, "error", () => {});
  const error = new Error("secret");
  const listener = listenerOf(() => Promise.reject(error));
  const wire = await speakTo(t, listener);
  wire.write(GET);
  assert.equal((await wire.answer()).status, 500);
  assert.deepEqual(mock.calls.map((call) => call.arguments), [[error]]);
});

test("a request of 1,000 fields is refused, because some may be missing", async (t) => {
  const server = createServer(listenerOf(saying("hello")));
  server.maxHeadersCount = 0; // otherwise Node 24 and 26 refuse it themselves
  const wire = await openWire(t, { port: await listenOn(t, server) });
  const fields = Array<string>(998).fill("x:"); // and a Host
  wire.write(rawRequest("GET /", fields));
  assert.equal((await wire.answer()).status, 200);
  wire.write(rawRequest("GET /", [...fields, "x:"]) + GET);
  const { status, body } = await wire.answer();
  assert.equal(status, 400);
  assert.match(body, /its header is too large/);
  assert.equal(await wire.rest(), "");
});
