/** What the journal has of requests that came over a connection, on each runtime. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { REX_JSON } from "../../support/pets.ts";
import { until } from "../../support/time.ts";
import { rawRequest } from "../../support/wire.ts";
import { onEverySandbox } from "./sandbox_program.ts";
import { ends, headOf, LIST, untilEnded } from "./served.ts";

const everySandbox = { test: onEverySandbox() };

everySandbox.test("the journal has the connection's port, the pet added, and when the answer ended", async (sandbox) => {
  const { key, tell, requests } = sandbox;
  await tell("POST", "/faults", { delay: 50 });
  const fields = [`Authorization: Bearer ${key}`];
  const create = rawRequest("POST /v1/pets", fields, REX_JSON);
  const wire = await sandbox.wire(`${create}${create}`);
  await wire.answer();
  await wire.answer();
  const isEnded = async () => Boolean((await requests())[1]?.answered);
  await until("both have ended", isEnded);
  const [first = assert.fail(), second = assert.fail()] = await requests();
  assert.ok(Number(first.answered) - first.time >= 45);
  assert.ok(Number(second.answered) >= Number(first.answered));
  assert.equal(first.port, second.port);
  assert.deepEqual([first.added, second.added].map(Number), [51, 52]);
});

everySandbox.test("nextId is the id of the next pet, to the last digit, in the journal too", async (sandbox) => {
  const { control, tell, send, drive } = sandbox;
  const path = "/pets?nextId=9007199254740993";
  await tell("PUT", path, 1);
  assert.match(
    await send("POST /v1/pets", REX_JSON),
    /"id":9007199254740993,/,
  );
  const journal = await (await fetch(`${control}/requests`)).text();
  assert.match(journal, /"added":9007199254740993\}\]$/);
  const wrong = await drive("PUT", "/pets?nextId=1", 1);
  assert.equal(wrong.status, 400);
  assert.match(
    JSON.stringify(wrong.json),
    /nextId must be an integer greater /,
  );
});

everySandbox.test("an entry is open until its answer begins, or its client goes away", async (sandbox) => {
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

everySandbox.test("the journal has the target and all header fields as they came", async (sandbox) => {
  const { key, requests } = sandbox;
  const odd = ["constructor: a", "__proto__: b"];
  const fields = ["Connection: close", "X-A: 1", "x-a: 2", ...odd].concat(
    `AUTHORIZATION: Bearer ${key}`,
    "Authorization: Bearer other", // which Node would drop
  );
  const sent = rawRequest("GET /v1/pets?limit=%31", fields);
  const wire = await sandbox.wire(sent);
  assert.match(await wire.rest(), /^HTTP\/1.1 401 /);
  const [first = assert.fail()] = await requests();
  const { time, answered, port, headers, responseHeaders, ...entry } = first;
  assert.ok(Number(answered) >= time);
  assert.equal(typeof port, "number");
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

/** By what a client sends that is no good for any service: what is recorded of it. */
const BAD = [
  ["a request without Host", LIST.replace("Host: a", "Connection: close"), 400],
  ["no HTTP", "GARBAGE\r\n\r\n"],
  ["the offer of a tunnel", rawRequest("CONNECT a.example:443")],
] as const;
for (const [what, sent, ...recorded] of BAD) {
  everySandbox.test(`${what} is answered 400, and recorded if it is a request`, async (sandbox) => {
    const wire = await sandbox.wire(sent);
    assert.match(
      await wire.rest(),
      /^HTTP\/1.1 400 [^]*"code":"bad_request"/,
    );
    await untilEnded(sandbox);
    assert.deepEqual(await ends(sandbox), recorded);
  });
}

everySandbox.test("a client that is gone before 100 Continue has no status in the journal", async (sandbox) => {
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
