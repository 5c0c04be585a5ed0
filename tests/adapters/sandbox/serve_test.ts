/** What only a server can show, on each runtime. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { sandbox } from "../../../adapters/sandbox/mod.ts";
import { REX_JSON } from "../../support/pets.ts";
import { until } from "../../support/time.ts";
import { openWire, rawRequest } from "../../support/wire.ts";
import { onEverySandbox, type RunningSandbox } from "./sandbox_program.ts";

const it = onEverySandbox();
const LIST = rawRequest("GET /v1/pets");

/** The head of a create with a body of so many bytes. */
function headOf({ key }: RunningSandbox, length: number): string {
  const authorization = `Authorization: Bearer ${key}`;
  const fields = ["Connection: close", `Content-Length: ${length}`];
  return rawRequest("POST /v1/pets", [authorization, ...fields]);
}

/** The status of each request, or "open". */
async function ends({ requests }: RunningSandbox) {
  return (await requests()).map(({ status, open }) => open ? "open" : status);
}

async function untilEnded(sandbox: RunningSandbox): Promise<void> {
  const isEnded = async () => !(await ends(sandbox)).includes("open");
  await until("no entry is open", isEnded);
}

it("a lost answer ends the connection in order, although the body comes late", async (sandbox) => {
  const { tell, state } = sandbox;
  const isTaken = async () => (await state()).faults.length === 0;
  let start, wire;
  do { // again if the machine stalled for the second that the sandbox waits for a body
    start = performance.now();
    await tell("POST", "/faults", { lose: true });
    wire = await sandbox.wire(headOf(sandbox, REX_JSON.length));
    await until("the fault is taken", isTaken);
  } while (wire.isClosed && performance.now() - start >= 1000);
  assert.equal(wire.isClosed, false);
  wire.write(REX_JSON);
  assert.equal(await wire.rest(), "");
});

function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf("\r\n\r\n") + 4);
}

for (const cut of [40, 0]) {
  it(`a body that is cut after ${cut} bytes breaks off there, with the whole length`, async (sandbox) => {
    const { tell, send } = sandbox;
    const body = bodyOf(await send("GET /v1/pets?limit=5"));
    await tell("POST", "/faults", { cut });
    const answer = await send("GET /v1/pets?limit=5");
    assert.match(answer, /^HTTP\/1.1 200 /);
    assert.match(answer, new RegExp(`content-length: ${body.length}\r\n`, "i"));
    assert.equal(bodyOf(answer), body.slice(0, cut));
    assert.deepEqual(await ends(sandbox), [200, 200]);
  });
}

it("a header field of a fault is sent as Latin-1, whoever sends the body", async ({ tell, send }) => {
  const headers = { "x-name": "Zo\u00eb" };
  const [own, changed] = [{ status: 200, body: "\u00eb", headers }, {
    headers,
  }];
  await tell("POST", "/faults", [{ answer: own }, { answer: changed }]);
  for (const _ of [own, changed]) {
    assert.match(await send("GET /v1/pets?limit=1"), /^x-name: Zo\xeb\r$/im);
  }
});

it("a large body that is cut comes up to there", async ({ tell, send }) => {
  const pets = Array(100).fill({ name: "x".repeat(255), categoryId: 1 });
  await tell("PUT", "/pets", pets);
  await tell("POST", "/faults", { cut: 25_000 });
  const answer = await send("GET /v1/pets?limit=100");
  assert.equal(bodyOf(answer).length, 25_000);
});

it("an entry is open until its answer begins, or its client goes away", async (sandbox) => {
  const { tell, send } = sandbox;
  const answer = { status: 500 };
  const faults = [{ delay: 60_000 }, { delay: 60_000, answer }];
  await tell("POST", "/faults", faults);
  const waiting = [await sandbox.wire(LIST), await sandbox.wire(LIST)];
  const isOpen = async () => (await ends(sandbox)).join() === "open,open";
  await until("both have come", isOpen);
  waiting.push(await sandbox.wire(headOf(sandbox, REX_JSON.length)));
  const isUploading = async () => (await ends(sandbox)).length === 3;
  await until("an upload has begun", isUploading);
  for (const wire of waiting) wire.close();
  await untilEnded(sandbox);
  await send("GET /v1/pets");
  assert.deepEqual(await ends(sandbox), [null, null, null, 200]);
});

it("the journal has the target and all header fields as they came", async (sandbox) => {
  const { key, requests } = sandbox;
  const odd = ["constructor: a", "__proto__: b"];
  const fields = ["Connection: close", "X-A: 1", "x-a: 2", ...odd].concat(
    `AUTHORIZATION: Bearer ${key}`,
    "Authorization: Bearer other", // which Node would drop
  );
  const sent = rawRequest("GET /v1/pets?limit=%31", fields);
  const wire = await sandbox.wire(sent);
  assert.match(await wire.rest(), /^HTTP\/1.1 401 /);
  const [{ time: _, headers, responseHeaders, ...entry } = assert.fail()] =
    await requests();
  const shown = Object.entries(headers).map((field) => field.join(": "));
  const joined = ["x-a: 1, 2", `authorization: Bearer ${key}, Bearer other`];
  assert.deepEqual(
    shown.sort(),
    [...joined, ...odd, "connection: close", "host: a"].sort(),
  );
  const target = "/v1/pets?limit=%31";
  const expected = { method: "GET", target, body: null, status: 401 };
  assert.deepEqual(entry, expected);
  assert.match(String(responseHeaders?.["www-authenticate"]), /^Bearer /);
});

/** By fault: its value, the status that is recorded, and what is left of the body. */
const BREAKS = [["lose", true, null], ["cut", 9, 200, '{"id":2,"']] as const;
for (const [name, value, status, ...broken] of BREAKS) {
  it(`${name} leaves pipelined answers before it, and carries out nothing after`, async (sandbox) => {
    const { key, tell } = sandbox;
    await tell("POST", "/faults", [{ delay: 50 }, { [name]: value }]);
    const fields = [`Authorization: Bearer ${key}`];
    const sent = [1, 2, 3, 4]
      .map((id) => rawRequest(`GET /v1/pets/${id}`, fields)).join("");
    const wire = await sandbox.wire(sent);
    const bodies = [...(await wire.rest()).matchAll(/\r\n\r\n(\{[^}]*)/g)];
    const rex = '{"id":1,"name":"Rex","categoryId":1,"status":"available"';
    assert.deepEqual(bodies.map(([, body]) => body), [rex, ...broken]);
    await untilEnded(sandbox);
    assert.deepEqual(await ends(sandbox), [200, status, null, null]);
  });
}

it("a request with Connection: close is answered behind others, whatever follows it", async (sandbox) => {
  const authorization = `Authorization: Bearer ${sandbox.key}`;
  const [first, last] = [[], ["Connection: close"]].map((more) =>
    rawRequest("GET /v1/pets/1", [authorization, ...more])
  );
  for (const rest of ["", LIST, "GARBAGE\r\n\r\n"]) {
    const wire = await sandbox.wire(`${first}${first}${last}${rest}`);
    const answers = (await wire.rest()).match(/HTTP\/1.1 200 [^]*?"Rex"/g);
    assert.equal(answers?.length, 3, rest);
  }
});

/** By what a client sends that is no good for any service: what is recorded of it. */
const BAD = [
  ["a request without Host", LIST.replace("Host: a", "Connection: close"), 400],
  ["no HTTP", "GARBAGE\r\n\r\n"],
  ["the offer of a tunnel", rawRequest("CONNECT a.example:443")],
] as const;
for (const [what, sent, ...recorded] of BAD) {
  it(`${what} is answered 400, and recorded if it is a request`, async (sandbox) => {
    const wire = await sandbox.wire(sent);
    assert.match(await wire.rest(), /^HTTP\/1.1 400 [^]*"code":"bad_request"/);
    await untilEnded(sandbox);
    assert.deepEqual(await ends(sandbox), recorded);
  });
}

it("a client that is gone before 100 Continue has no status in the journal", async (sandbox) => {
  const head = headOf(sandbox, REX_JSON.length);
  const socket = connect(sandbox.port, "127.0.0.1");
  socket.write(head.replace("\r\n", "\r\nExpect: 100-continue\r\n"));
  socket.once("connect", () => setImmediate(() => socket.resetAndDestroy()));
  await once(socket, "close");
  const isRecorded = async () => (await ends(sandbox)).length === 1;
  await until("the request is recorded", isRecorded);
  await untilEnded(sandbox);
  assert.deepEqual(await ends(sandbox), [null]);
});

it("a request of 1,100 fields is refused, because some may be missing", async (sandbox) => {
  const fields = Array<string>(1100).fill("x:");
  const wire = await sandbox.wire(rawRequest("GET /v1/pets", fields));
  const answer = await wire.rest();
  assert.match(answer, /^HTTP\/1.1 400 [^]*its header is too large/);
});

it("an expectation that is unknown is ignored", async ({ send }) => {
  assert.match(
    await send("GET /v1/pets?limit=1\nExpect: miracles"),
    /^HTTP\/1.1 200 /,
  );
  const created = await send("POST /v1/pets\nExpect: 100-continue", REX_JSON);
  assert.match(created, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
});

test("serve closes its port and every connection, and may be called again", async (t) => {
  const store = sandbox({ pets: 1, key: "k" });
  const [first, second] = [
    await store.serve(),
    await store.serve({ names: ["localhost", "store"] }),
  ];
  assert.equal(first.key, "k");
  assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.equal(first.control, first.url.replace("/v1", "/sandbox"));
  assert.match(second.url, /^http:\/\/localhost:\d+\/v1$/);
  const port = Number(new URL(first.url).port);
  const idle = await openWire(t, { port }, rawRequest("GET /"));
  await idle.answer();
  store.reset();
  store.add({ delay: 60_000 });
  const waiting = await openWire(t, { port }, LIST);
  await until("it has come", () => store.requests.length === 1);
  await Promise.all([first.close(), first.close()]);
  assert.equal(await idle.rest() + await waiting.rest(), "");
  await first.close();
  await until("it has ended", () => store.requests[0]?.open === undefined);
  await second.close();
});
