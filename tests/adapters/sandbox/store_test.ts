/** The sandbox without a port. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import test from "node:test";
import { runInNewContext } from "node:vm";
import {
  type Fault,
  sandbox,
  type SandboxEvent,
  type SandboxOptions,
} from "../../../adapters/sandbox/mod.ts";
import { createWorlds } from "../../../adapters/sandbox/worlds.ts";
import { type Answer, ask, type Question } from "../../contract/ask.ts";
import { REX, REX_JSON } from "../../support/pets.ts";
import { turns, until } from "../../support/time.ts";

/** Makes a sandbox, and functions that ask its service. */
function open(options?: SandboxOptions) {
  const store = sandbox(options);
  const { handle: fetch, key } = store;
  const service = { fetch, base: "http://localhost/v1", key };
  const get = (path = "/pets", headers: Question["headers"] = {}) =>
    ask(service, "GET", path, { headers });
  return {
    store,
    service,
    get,
    /** Sends a create, whose body is `REX_JSON` unless it is given. */
    create: (sent: Question = {}, path = "/pets") =>
      ask(service, "POST", path, { body: REX_JSON, ...sent }),
    /** Lists pets, and leaves the body to the test. */
    stream(): Promise<Response> {
      const headers = { authorization: `Bearer ${key}` };
      return fetch(`${service.base}/pets`, { headers });
    },
    /** The statuses of this many lists. */
    async statuses(count: number): Promise<readonly number[]> {
      const all: number[] = [];
      for (let i = 0; i < count; i++) all.push((await get()).status);
      return all;
    },
  };
}

/** The status of an answer, and when it says to try again. */
function outcome({ status, headers }: Answer) {
  return [status, headers.get("retry-after")];
}

const busy: Fault = { answer: { status: 503 } };

test("reset forgets pets, ids, faults, requests and idempotency keys since the start", async () => {
  const { store, create } = open({ pets: 3 });
  const headers = { "idempotency-key": "1" };
  assert.match((await create({ headers })).text, /"id":4,/);
  store.add(busy);
  store.reset();
  assert.deepEqual([store.faults, store.requests], [[], []]);
  const again = await create({ headers });
  assert.equal(again.headers.get("idempotent-replayed"), null);
  assert.match(again.text, /"id":4,/);
  assert.equal(store.pets.length, 4);
});

test("what a test changes in the pets it read is not the store's", async () => {
  const { store, get } = open({ pets: 1 });
  for (const pet of store.pets) Object.assign(pet, { name: "Mine" });
  store.reset();
  assert.match((await get()).text, /"name":"Rex"/);
});

test("in Jest, whose structuredClone is another realm's, strict comparisons hold", async (t) => {
  const parse: typeof JSON.parse = runInNewContext("JSON.parse");
  const clone = (value: unknown) => parse(JSON.stringify(value));
  const { mock } = t.mock.method(globalThis, "structuredClone", clone);
  const { store, get } = open();
  store.add([busy, busy]);
  await get();
  const statuses = store.requests.map(({ status }) => status);
  const { faults } = store;
  mock.restore();
  assert.deepEqual([statuses, faults], [[503], [busy]]);
});

test("a response in process has the URL of its request, as that of fetch", async () => {
  const { service, stream } = open();
  const { url } = await stream();
  assert.equal(url, `${service.base}/pets`);
});

test("faults apply in order, each to as many requests as it says", async () => {
  const { store, statuses } = open();
  store.add([{ answer: { status: 500 }, times: 2 }, busy]);
  store.add({ answer: { status: 429 } });
  assert.deepEqual(await statuses(1), [500]);
  const [failing, limited] = [500, 429]
    .map((status) => ({ answer: { status } }));
  assert.deepEqual(store.faults, [{ ...failing, times: 1 }, busy, limited]);
  assert.deepEqual(await statuses(4), [500, 503, 429, 200]);
  store.add({ ...busy, times: "always" });
  assert.deepEqual(await statuses(3), [503, 503, 503]);
  assert.equal(store.faults.length, 1);
});

test("a fault waits for a request that fits its method and its path", async () => {
  const { store, get, create } = open({ pets: 1 });
  store.add({ ...busy, when: { method: "POST", path: "/v1/pets" } });
  store.add({ ...busy, when: { path: "/v1/pets/{petId}" } });
  store.add({ ...busy, when: { path: "/v1/pets", method: "GET" } });
  assert.equal((await get("/%70ets")).status, 503); // the same path
  assert.equal((await get("/pets?limit=1")).status, 200);
  assert.equal((await get("/pets/1")).status, 503);
  assert.equal((await get("/pets/1")).status, 200);
  assert.equal((await create({}, "/pets?a=b")).status, 503);
  assert.deepEqual(store.faults, []);
});

test("faults that are too many or too long are refused, and none is added", () => {
  const { store } = open();
  const many = Array<Fault>(1000).fill(busy);
  const withBody = (body: string) => [{ answer: { status: 503, body } }];
  const rest = 16 * 1024 * 1024 - JSON.stringify(withBody("")).length;
  const long = withBody("x".repeat(rest));
  for (const most of [many, long]) {
    store.add(most);
    assert.throws(
      () => store.add(busy),
      /^TypeError: Cannot add faults: at most 1000 may wait, of 16777216 /,
      `${most.length}`,
    );
    assert.equal(store.faults.length, most.length);
    store.reset();
  }
});

test("an answer alone does no work; with work it does, and invites no second try", async () => {
  const { store, create } = open();
  store.add(busy);
  assert.deepEqual(outcome(await create()), [503, "1"]);
  assert.equal(store.pets.length, 0);
  store.add({ ...busy, work: true });
  const second = await create();
  assert.deepEqual(outcome(second), [503, null]);
  assert.match(second.text, /"service_unavailable"/);
  assert.equal(store.pets.length, 1);
});

test("an answer has the tester's header fields and body; null leaves a field out", async () => {
  const { store, get } = open();
  const headers = {
    "Retry-After": null,
    "X-Sandbox": "yes",
    "Access-Control-Allow-Origin": null,
    "Access-Control-Expose-Headers": "X-Sandbox",
  };
  store.add({ answer: { status: 503, headers } });
  const answer = await get();
  assert.equal(answer.headers.get("retry-after"), null);
  assert.equal(answer.headers.get("x-sandbox"), "yes");
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
  const exposed = answer.headers.get("access-control-expose-headers");
  assert.equal(exposed, "X-Sandbox");
  assert.equal(answer.headers.get("content-type"), "application/json");
  for (const answer of [{ status: 503, body: "<h1>é" }, { status: 304 }]) {
    store.add({ answer });
    const { status, headers, text } = await get();
    assert.deepEqual(
      { status, body: text },
      { body: "", ...answer },
      `${answer.status}`,
    );
    assert.equal(headers.get("content-type"), null, `${answer.status}`);
    assert.equal(headers.get("retry-after"), null, `${answer.status}`);
    assert.equal(
      headers.get("access-control-allow-origin"),
      "*",
      `${answer.status}`,
    );
  }
});

test("an answer without a status is the true one with other header fields", async () => {
  const { store, get, create } = open({ pets: 2 });
  const fields = { link: null, "content-type": null, "X-Sandbox": "yes" };
  store.add([
    { answer: { headers: fields } },
    { answer: { headers: { location: null } } },
  ]);
  const page = await get("/pets?limit=1");
  assert.deepEqual([page.status, page.headers.get("link")], [200, null]);
  assert.equal(page.headers.get("x-sandbox"), "yes");
  assert.equal(page.headers.get("content-type"), null);
  assert.equal(JSON.parse(page.text).length, 1);
  const created = await create();
  assert.equal(created.headers.get("location"), null);
  assert.match(created.text, /"id":3,/);
});

test("a lost answer rejects as fetch does; with work the pet and its key are kept", async () => {
  const { store, create } = open();
  const headers = { "idempotency-key": "7" };
  store.add({ lose: true });
  await assert.rejects(create({ headers }), TypeError);
  assert.equal(store.pets.length, 0);
  store.add({ lose: true, work: true });
  await assert.rejects(create({ headers }), TypeError);
  assert.equal(store.pets.length, 1);
  const again = await create({ headers });
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  const sent = store.requests.map(({ status }) => status);
  assert.deepEqual(sent, [null, null, 201]);
});

test("a body that is cut fails after so many bytes; a shorter one is whole", async () => {
  const { store, service, get, stream } = open({ pets: 2 });
  const whole = (await get()).text;
  const onHead = { cut: 0, when: { method: "HEAD" } };
  store.add([{ cut: 10 }, { cut: whole.length + 100 }, onHead]);
  const answer = await stream();
  const length = new TextEncoder().encode(whole).byteLength;
  assert.equal(answer.headers.get("content-length"), `${length}`);
  const reader = answer.body?.getReader();
  const { value } = await reader?.read() ?? {};
  assert.equal(new TextDecoder().decode(value), whole.slice(0, 10));
  await assert.rejects(async () => await reader?.read(), TypeError);
  assert.equal((await get()).text, whole);
  assert.equal((await ask(service, "HEAD", "/pets")).status, 200);
});

test("cut ends a body once its socket has sent all, without waiting for an event", async () => {
  const { first: store } = createWorlds({ pets: 2 });
  store.faults.add({ cut: 10 });
  const socket = Object.assign(new EventEmitter(), { writableLength: 10 });
  const response = { useChunkedEncodingByDefault: true };
  const headers = { authorization: "Bearer test" };
  const request = new Request("http://localhost/v1/pets", { headers });
  const { body } = await store.answer(request, {
    entry: store.journal.begin({ method: "GET", target: "/", headers }),
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array()),
    connection: { socket: socket as unknown as Socket, response },
    other: "",
  }) ?? {};
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  assert.equal((await reader.read()).value?.byteLength, 10);
  let isCut = false;
  const rest = reader.read().catch(() => isCut = true);
  await turns(20);
  assert.equal(isCut, false);
  socket.writableLength = 0;
  await until("it is cut", () => isCut);
  await rest;
});

test("a body that drips comes in pieces that make up the whole", async () => {
  const { store, get, stream } = open({ pets: 1 });
  const whole = (await get()).text;
  store.add({ drip: 400 });
  const before = performance.now();
  const pieces: string[] = [];
  for await (const piece of (await stream()).body ?? []) {
    pieces.push(new TextDecoder().decode(piece));
  }
  assert.equal(pieces.join(""), whole);
  assert.equal(pieces[0]?.length, 40);
  // 59 bytes; timers may fire a little early.
  assert.ok(performance.now() - before > 1000 * whole.length / 400 - 60);
});

test("a delay comes after the work, and is the fault's, or else the sandbox's", async () => {
  const { store, service, statuses } = open({ delay: 60_000 });
  store.add([{ delay: 0 }, { delay: 0, answer: { status: 500 } }]);
  assert.deepEqual(await statuses(2), [200, 500]);
  const client = new AbortController();
  const fetch = (request: Request) =>
    store.handle(new Request(request, { signal: client.signal }));
  const sent = ask({ ...service, fetch }, "POST", "/pets", { body: REX_JSON });
  const entry = () => store.requests.find(({ method }) => method === "POST");
  await until("the work is done", async () => {
    store.add({ delay: 0 });
    return store.pets.length === 1;
  });
  assert.equal(entry()?.open, true);
  client.abort();
  await assert.rejects(sent, { name: "AbortError" });
  assert.deepEqual([entry()?.status, entry()?.open], [null, undefined]);
});

test("Prefer makes one answer, and says what it honoured", async () => {
  const { store, get } = open();
  const preferring = async (prefer: string) => {
    const { status, headers } = await get("/pets", { prefer });
    return [status, headers.get("preference-applied")];
  };
  assert.deepEqual(await preferring("code=503"), [503, "code=503"]);
  const several = 'respond-async, Code="429"; x=y, delay=1';
  assert.deepEqual(await preferring(several), [429, "code=429, delay=1"]);
  assert.deepEqual(await preferring("delay=0"), [200, "delay=0"]);
  assert.deepEqual(await preferring("code=200"), [200, null]);
  const first = "code=abc, code=503"; // of several, the first counts (RFC 7240 §2)
  assert.deepEqual(await preferring(first), [200, null]);
  for (const wrong of ["xcode=500, delay=9999999999", "code=5e2, delay=1e1"]) {
    assert.deepEqual(await preferring(wrong), [200, null], wrong);
  }
  assert.ok(store.requests.every((entry) => !("fault" in entry)));
  store.add({ answer: { status: 500 } });
  assert.deepEqual(await preferring("code=503"), [500, null]);
});

test("a preflight takes no fault unless that is for OPTIONS, and may ask for Prefer", async () => {
  const { store, service, get } = open();
  store.add(busy);
  const headers = {
    origin: "http://a.example",
    "access-control-request-method": "GET",
  };
  const preflight = () => ask(service, "OPTIONS", "/pets", { headers });
  const allowed = await preflight();
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers.get("access-control-allow-origin"), "*");
  assert.match(
    String(allowed.headers.get("access-control-allow-headers")),
    /Authorization.*, Prefer$/,
  );
  assert.equal(store.faults.length, 1);
  store.add({ ...busy, when: { method: "OPTIONS" } });
  assert.equal((await preflight()).status, 503);
  const answer = await get();
  assert.equal(answer.status, 503);
  assert.match(
    String(answer.headers.get("access-control-expose-headers")),
    /, Preference-Applied$/,
  );
});

test("requests has a body of up to 64 KiB, or else null, if a fault does no work", async () => {
  const { store, create } = open();
  const body = "\u00e9".repeat(32_768); // two bytes each
  store.add({ ...busy, times: 2 });
  await create({ body });
  await create({ body: `${body} ` });
  assert.deepEqual(store.requests.map(({ body }) => body), [body, null]);
});

test("requests has the time, the fault, and the body unless it is 401, 413 or 415", async (t) => {
  t.mock.method(Date, "now", () => 7);
  const { store, get, create } = open({ key: "k" });
  const body = '\ufeff{"name":"Zo\u00eb","categoryId":1}'; // as it was sent
  await create({ body, headers: { "X-A": "b" } }, "/pets?x=1");
  const { headers, responseHeaders, ...first } = store.requests[0] ?? {};
  const target = "/v1/pets?x=1";
  const sent = { time: 7, method: "POST", target, body };
  const added = { ...sent, status: 201, answered: 7, added: 1n };
  assert.deepEqual(first, added);
  assert.equal(headers?.["x-a"], "b");
  assert.equal(headers?.authorization, "Bearer k");
  assert.equal(responseHeaders?.location, "pets/1");
  await create({ body: "{" });
  await create({ headers: { authorization: "" } });
  await create({ body: "é".repeat(40_000) });
  await create({ headers: { "content-type": "text/plain" } });
  const lost: Fault = { lose: true };
  store.add([{ ...busy, times: 2 }, lost]);
  await create();
  store.add({ ...busy, work: true, when: { path: "/v1/pets" } });
  await get();
  await assert.rejects(create());
  await create();
  const entries = store.requests.slice(1)
    .map(({ status, body, fault }) => [status, body, fault]);
  assert.deepEqual(entries, [
    [400, "{", undefined],
    [401, null, undefined],
    [413, null, undefined],
    [415, null, undefined],
    [503, REX_JSON, { ...busy, times: 2 }],
    [503, null, { ...busy, times: 1 }],
    [null, REX_JSON, lost],
    [503, REX_JSON, { ...busy, work: true, when: { path: "/v1/pets" } }],
  ]);
});

test("a fault with a long body does not push other requests out of the journal", async () => {
  const { store, get } = open();
  const body = "x".repeat(1024 * 1024);
  store.add({ answer: { status: 200, body }, times: "always" });
  for (let i = 0; i < 20; i++) await get();
  assert.equal(store.requests.length, 20);
  const [{ fault } = assert.fail()] = store.requests;
  assert.equal(fault?.answer?.body, `${"x".repeat(1000)}…`);
  assert.equal(store.faults[0]?.answer?.body, body);
});

test("an answer has the X-Request-Id of its request, or a new one", async () => {
  const { store, get } = open();
  const idOf = async (headers: Question["headers"] = {}) =>
    (await get("/pets", headers)).headers.get("x-request-id");
  assert.equal(await idOf({ "x-request-id": "a-1" }), "a-1");
  const [first, second] = [await idOf(), await idOf({ "x-request-id": "a b" })];
  assert.match(String(first), /^[\w-]{36}$/);
  assert.notEqual(first, second);
  assert.equal(store.requests[1]?.responseHeaders?.["x-request-id"], first);
  store.add({ answer: { headers: { "x-request-id": null } } });
  assert.equal(await idOf(), null);
});

test("the journal keeps the last 1,000 requests, or fewer if they are long", async () => {
  const { store, get } = open();
  for (let i = 0; i < 1003; i++) await get(`/pets?i=${i}`);
  assert.equal(store.requests.length, 1000);
  assert.equal(store.requests[0]?.target, "/v1/pets?i=3");
  store.reset();
  const value = "x".repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) await get(`/pets?i=${i}&x=${value}`);
  assert.equal(store.requests.length, 15);
  assert.match(String(store.requests.at(-1)?.target), /^\/v1\/pets\?i=19&/);
});

test("added is the id of the pet that a request added, even if its answer was lost", async () => {
  const nextId = 9007199254740993n;
  const { store, get, create } = open({ pets: 2, nextId });
  const headers = { "idempotency-key": "1" };
  store.add([{ lose: true, work: true }, { answer: { status: 500 } }]);
  await assert.rejects(create({ headers }));
  await create({ headers });
  await create({ headers }); // replayed
  await create();
  await get();
  const added = store.requests.map(({ added }) => added);
  assert.deepEqual(added, [
    nextId,
    undefined,
    undefined,
    nextId + 1n,
    undefined,
  ]);
  store.reset();
  assert.match((await create()).text, /"id":9007199254740993,/);
});

test("without getPet its path is a 404, which uses no fault up", async () => {
  const { store, get, create } = open({ pets: 1, getPet: false });
  store.add(busy);
  const { status, headers } = await get("/pets/1");
  assert.deepEqual([status, headers.get("sunset")], [404, null]);
  assert.equal((await create()).status, 503);
  const { text } = await create();
  assert.match(text, /"id":2,/);
  store.add({ ...busy, when: { path: "/v1/pets/{petId}" } });
  assert.equal((await get("/pets/1")).status, 503);
  assert.equal(store.requests.at(-2)?.added, 2n);
});

test("onEvent gets each request, its body, its answer and its end, as they happen", async (t) => {
  t.mock.method(Date, "now", () => 7);
  const seen: unknown[] = [];
  function onEvent({ type, time, request }: SandboxEvent): void {
    const { status, answered } = request;
    seen.push([type, time, status, answered]);
    throw new Error("not for the client");
  }
  const { store, get, create } = open({ onEvent, pets: 1 });
  const told = () => seen.splice(0);
  const request = ["request", 7, null, null];
  const body = ["bytes", 7, null, null];
  await create();
  const answer = [["answer", 7, 201, null], ["end", 7, 201, 7]];
  assert.deepEqual(told(), [request, body, ...answer]);
  store.add({ lose: true });
  await assert.rejects(create());
  assert.deepEqual(told(), [request, body, ["end", 7, null, 7]]);
  const length = Number((await get()).headers.get("content-length"));
  assert.equal(length, 0);
  told();
  store.add({ drip: 1000 });
  await get();
  const [first, second, ...rest] = told() as unknown[][];
  assert.deepEqual([first, second], [request, ["answer", 7, 200, null]]);
  assert.deepEqual(rest.pop(), ["end", 7, 200, 7]);
  assert.deepEqual(rest, [["bytes", 7, 200, null], ["bytes", 7, 200, null]]);
});

test("a header field may say when, or name the other host", async (t) => {
  t.mock.method(Date, "now", () => Date.UTC(2026, 0, 1, 0, 0, 0, 1));
  const { store, get } = open();
  const headers = {
    "retry-after": { date: 3 },
    "x-in": { in: 3 },
    location: "{other}/v1/pets?from={other}",
  };
  store.add({ answer: { status: 503, headers } });
  const answer = await get();
  const field = (name: string) => answer.headers.get(name);
  assert.equal(field("retry-after"), "Thu, 01 Jan 2026 00:00:04 GMT");
  assert.equal(field("x-in"), "3");
  const other = "http://other.invalid";
  assert.equal(field("location"), `${other}/v1/pets?from=${other}`);
});

test("a body that stalls stops there until the client leaves", async () => {
  const { store, service, stream } = open({ pets: 2 });
  store.add([{ stall: 10 }, { stall: 1000 }]);
  const { signal, abort } = aborter();
  const headers = { authorization: "Bearer test" };
  const init = { headers, signal };
  const { body } = await store.handle(`${service.base}/pets`, init);
  const reader = body?.getReader();
  assert.equal((await reader?.read())?.value?.byteLength, 10);
  let isOver = false;
  const rest = assert.rejects(async () => await reader?.read())
    .finally(() => isOver = true);
  await turns(20);
  assert.deepEqual([isOver, store.requests[0]?.answered], [false, null]);
  abort();
  await rest;
  assert.equal(typeof store.requests[0]?.answered, "number");
  assert.equal((await (await stream()).json()).length, 2);
});

function aborter() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

test("a body that is cut ends without an error if its length is not told", async () => {
  const { store, get, stream } = open({ pets: 2 });
  store.add([{ cut: 10, framing: "close" }, { cut: 10, framing: "chunked" }]);
  const answer = await get();
  assert.equal(answer.text.length, 10);
  assert.equal(answer.headers.get("content-length"), null);
  const chunked = await stream();
  assert.equal(chunked.headers.get("content-length"), null);
  await assert.rejects(chunked.text(), TypeError);
});

test("at its most pets, creates are refused as by a full disk, but not replays", async () => {
  const { store, create } = open({ pets: 1, maxPets: 2 });
  const headers = { "idempotency-key": "1" };
  assert.equal((await create({ headers })).status, 201);
  assert.deepEqual(outcome(await create()), [503, "1"]);
  assert.equal((await create({ headers })).status, 201);
  assert.equal(store.pets.length, 2);
  store.reset();
  assert.equal((await create()).status, 201);
});

test("seeded ids are in pages, single pets and links, and later ids follow", async () => {
  const ids = [3n, 9007199254740993n, 9007199254740995n];
  const { store, get, create } = open({
    pets: ids.map((id) => ({ ...REX, id })),
  });
  const read = async (answer: Promise<Answer>) => {
    const { text } = await answer;
    return [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id).join();
  };
  const listed = [];
  for (const after of [0, 2, 3, 4, 9007199254740992n, ...ids.slice(1)]) {
    listed.push(await read(get(`/pets?after=${after}&limit=1`)));
  }
  const [first, second, third] = ids.map(String);
  const pages = [first, first, second, second, second, third, ""];
  assert.deepEqual(listed, pages);
  const page = await get("/pets?limit=2");
  assert.match(String(page.headers.get("link")), /after=9007199254740993>/);
  assert.equal(await read(get(`/pets/${second}`)), second);
  assert.equal((await get("/pets/9007199254740994")).status, 404);
  assert.equal((await get("/pets/1")).status, 404);
  const created = "9007199254740996";
  assert.equal(await read(create()), created);
  const last = `${third},${created}`;
  assert.equal(await read(get(`/pets?after=${second}`)), last);
  store.reset();
  assert.equal(await read(get()), ids.join());
});

test("after the last int64 a create is a 500, and the log says why", async (t) => {
  const { mock } = t.mock.method(console, "error", () => {});
  const { create } = open({ pets: [{ ...REX, id: 2n ** 63n - 2n }] });
  assert.match((await create()).text, /"id":9223372036854775807,/);
  assert.deepEqual(outcome(await create()), [500, null]);
  const [logged] = mock.calls.map(({ arguments: [cause] }) => String(cause));
  assert.equal(logged, "Error: Cannot create pet: no ids are left");
});

test("the pet with the last int64 may be there from the start, and after a reset", async () => {
  const { store, get } = open({ pets: [{ ...REX, id: 2n ** 63n - 1n }] });
  store.reset();
  assert.match((await get()).text, /^\[\{"id":9223372036854775807,/);
});

test("several keys are accepted, and each has its own idempotency keys", async () => {
  const { store, service, get, create } = open({ key: ["a", "b"] });
  assert.equal(store.key, "a");
  const headers = { "idempotency-key": "1" };
  assert.match((await create({ headers })).text, /"id":1,/);
  const sent = { body: REX_JSON, headers };
  const other = await ask({ ...service, key: "b" }, "POST", "/pets", sent);
  assert.match(other.text, /"id":2,/);
  assert.equal((await get("/pets", { authorization: "Bearer c" })).status, 401);
});

test("the journal has the header fields of the answer as they were sent", async () => {
  const { store, get } = open({ pets: 2 });
  const headers = { link: null, "Retry-After": "7" };
  store.add([{ delay: 0 }, { answer: { headers } }, { lose: true }]);
  const answers = [await get("/pets?limit=1"), await get("/pets?limit=1")];
  await assert.rejects(get());
  const [first, second, lost] = store.requests
    .map(({ responseHeaders }) => responseHeaders);
  assert.match(String(first?.link), /rel="next"$/);
  assert.deepEqual(second?.link, undefined);
  assert.equal(second?.["retry-after"], "7");
  assert.equal(lost, null);
  for (const [i, { headers }] of answers.entries()) {
    const shown = store.requests[i]?.responseHeaders;
    assert.deepEqual(shown, Object.fromEntries(headers), `${i}`);
  }
});

test("a wrong key and wrong names of hosts are refused", async () => {
  const wrong = () => sandbox({ key: "a b" });
  assert.throws(wrong, /^TypeError: API key 1 of 1 must be /);
  const wrongNames = [
    [["localhost", "http://a"], '"http://a"'],
    [["a:80"], '"a:80"'],
    [[5], "5"],
    [[undefined], "undefined"],
    ["a", '"a"'],
  ] as const;
  for (const [names, shown] of wrongNames) {
    await assert.rejects(sandbox().serve({ names: names as never }), {
      name: "TypeError",
      message:
        `Wrong option names: it must be a list of hosts, without ports, not ${shown}`,
    }, shown);
  }
});
