/** What only a server can show, on each runtime. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { sandbox } from "../../../adapters/sandbox/mod.ts";
import { REX_JSON } from "../../support/pets.ts";
import { turns, until } from "../../support/time.ts";
import { openWire, rawRequest } from "../../support/wire.ts";
import { onEverySandbox } from "./sandbox_program.ts";
import { ends, headOf, LIST, untilEnded } from "./served.ts";

const everySandbox = { test: onEverySandbox() };

everySandbox.test("a lost answer ends the connection in order, although the body comes late", async (sandbox) => {
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
  everySandbox.test(`a body that is cut after ${cut} bytes breaks off there, with the whole length`, async (sandbox) => {
    const { tell, send } = sandbox;
    const body = bodyOf(await send("GET /v1/pets?limit=5"));
    await tell("POST", "/faults", { cut });
    const answer = await send("GET /v1/pets?limit=5");
    assert.match(answer, /^HTTP\/1.1 200 /);
    assert.match(
      answer,
      new RegExp(`content-length: ${body.length}\r\n`, "i"),
    );
    assert.equal(bodyOf(answer), body.slice(0, cut));
    assert.deepEqual(await ends(sandbox), [200, 200]);
  });
}

/** By framing: a field of the header, and the body of which 5 bytes are sent. */
const FRAMINGS = [
  ["length", /^content-length: \d\d+\r$/im, '{"id"'],
  ["chunked", /^transfer-encoding: chunked\r$/im, '5\r\n{"id"\r\n'],
  ["close", /^connection: close\r$/im, '{"id"'],
] as const;
for (const [framing, field, body] of FRAMINGS) {
  everySandbox.test(`a body that is cut or stalls may have the framing ${framing}`, async (sandbox) => {
    const { tell, send } = sandbox;
    await tell("POST", "/faults", [{ cut: 5, framing }, {
      stall: 5,
      framing,
    }]);
    const cut = await send("GET /v1/pets/1");
    assert.match(cut, field);
    assert.equal(/^content-length:/im.test(cut), framing === "length");
    assert.equal(bodyOf(cut), body);
    const wire = await sandbox.wire(LIST);
    await until("5 bytes have come", () => /\r\n\r\n.+/s.test(wire.received));
    await turns(50);
    assert.deepEqual([wire.received.endsWith('[{"id'), wire.isClosed], [
      framing !== "chunked",
      false,
    ]);
    assert.deepEqual(await ends(sandbox), [200, 200]);
    const stalled = async () => (await sandbox.requests())[1]?.answered;
    assert.equal(await stalled(), null);
    wire.close();
    await until("it has ended", async () => await stalled() !== null);
  });
}

everySandbox.test("a body whose end is the connection's drips to its end", async ({ tell, send }) => {
  await tell("POST", "/faults", { drip: 200, framing: "close" });
  const answer = await send("GET /v1/pets/1");
  assert.doesNotMatch(answer, /^(?:content-length|transfer-encoding):/im);
  assert.match(bodyOf(answer), /^\{"id":1,.*\}$/);
});

everySandbox.test("lose and cut may reset the connection", async (sandbox) => {
  const faults = [{ lose: true, reset: true }, { cut: 9, reset: true }];
  await sandbox.tell("POST", "/faults", faults);
  for (const received of [/^$/, /\{"id":1,"$/]) {
    const socket = connect(sandbox.port, "127.0.0.1");
    socket.setEncoding("latin1");
    let text = "";
    socket.on("data", (piece: string) => text += piece);
    socket.write(LIST.replace("pets", "pets/1"));
    const [error] = await once(socket, "error");
    assert.equal(error.code, "ECONNRESET", `${received}`);
    assert.match(text, received, `${received}`);
  }
});

everySandbox.test("{other} is the sandbox's port under another host name, or the option's value", async (sandbox) => {
  const answer = {
    status: 307,
    body: "",
    headers: { location: "{other}/v1" },
  };
  await sandbox.tell("POST", "/faults", { answer });
  const location = new RegExp(
    `^location: http://localhost:${sandbox.port}/v1`,
    "im",
  );
  assert.match(await sandbox.send("GET /v1/pets"), location);
});

everySandbox.test("a header field of a fault is sent as Latin-1, whoever sends the body", async ({ tell, send }) => {
  const headers = { "x-name": "Zo\u00eb" };
  const [own, changed] = [{ status: 200, body: "\u00eb", headers }, {
    headers,
  }];
  await tell("POST", "/faults", [{ answer: own }, { answer: changed }]);
  for (const _ of [own, changed]) {
    assert.match(await send("GET /v1/pets?limit=1"), /^x-name: Zo\xeb\r$/im);
  }
});

everySandbox.test("a large body that is cut comes up to there", async ({ tell, send }) => {
  const pets = Array(100).fill({ name: "x".repeat(255), categoryId: 1 });
  await tell("PUT", "/pets", pets);
  await tell("POST", "/faults", { cut: 25_000 });
  const answer = await send("GET /v1/pets?limit=100");
  assert.equal(bodyOf(answer).length, 25_000);
});

/** By fault: its value, the status that is recorded, and what is left of the body. */
const BREAKS = [["lose", true, null], ["cut", 9, 200, '{"id":2,"']] as const;
for (const [name, value, status, ...broken] of BREAKS) {
  everySandbox.test(`${name} leaves pipelined answers before it, and carries out nothing after`, async (sandbox) => {
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

everySandbox.test("a request with Connection: close is answered behind others, whatever follows it", async (sandbox) => {
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

everySandbox.test("a request of 1,100 fields is refused, because some may be missing", async (sandbox) => {
  const fields = Array<string>(1100).fill("x:");
  const wire = await sandbox.wire(rawRequest("GET /v1/pets", fields));
  const answer = await wire.rest();
  assert.match(answer, /^HTTP\/1.1 400 [^]*its header is too large/);
});

everySandbox.test("an expectation that is unknown is ignored", async ({ send }) => {
  assert.match(
    await send("GET /v1/pets?limit=1\nExpect: miracles"),
    /^HTTP\/1.1 200 /,
  );
  const created = await send("POST /v1/pets\nExpect: 100-continue", REX_JSON);
  assert.match(created, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
});

test("serve refuses an other that is no origin", async () => {
  for (const other of ["localhost:80", "http://a/", 7]) {
    await assert.rejects(sandbox().serve({ other: other as string }), {
      name: "TypeError",
      message: /^Wrong option other: it must be an origin such as /,
    }, `${other}`);
  }
});

test("serve closes its port and every connection, and may be called again", async (t) => {
  const store = sandbox({ pets: 1, key: ["k", "test"] });
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
