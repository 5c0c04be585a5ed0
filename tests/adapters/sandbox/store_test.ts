/** The sandbox without a port. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  type Fault,
  type Sandbox,
  sandbox,
} from "../../../adapters/sandbox/mod.ts";
import { until } from "../../support/time.ts";

const REX = '{"name":"Rex","categoryId":1}';

/** A request; with a body it is a create. */
type Sent = Omit<RequestInit, "body" | "headers"> & {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Asks a sandbox for a path below `/v1`. */
function send(
  { handle, key }: Sandbox,
  path = "/pets",
  { body, headers, ...init }: Sent = {},
): Promise<Response> {
  return handle(
    new Request(`http://localhost/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...body !== undefined && { "content-type": "application/json" },
        ...headers,
      },
      ...body !== undefined && { body },
      ...init,
    }),
  );
}

async function statuses(
  store: Sandbox,
  count: number,
): Promise<readonly number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await send(store)).status);
  return all;
}

/** Sends a create, whose body is `REX` unless it is given. */
function create(store: Sandbox, sent: Sent = {}): Promise<Response> {
  return send(store, "/pets", { body: REX, ...sent });
}

/** Lists up to 20 pets, and returns how many there are. */
async function count(store: Sandbox): Promise<number> {
  return (await (await send(store)).json()).length;
}

/** The status of an answer, and when it says to try again. */
function outcome({ status, headers }: Response) {
  return [status, headers.get("retry-after")];
}

const busy: Fault = { answer: { status: 503 } };

test("reset forgets pets, ids, faults, requests and idempotency keys since the start", async () => {
  const store = sandbox({ pets: 3 });
  const headers = { "idempotency-key": "1" };
  const first = await create(store, { headers });
  assert.equal((await first.json()).id, 4);
  store.add(busy);
  store.reset();
  assert.deepEqual([store.faults, store.requests], [[], []]);
  const again = await create(store, { headers });
  assert.equal(again.headers.get("idempotency-replayed"), null);
  assert.equal((await again.json()).id, 4);
  assert.equal(await count(store), 4);
});

test("faults apply in order, each to as many requests as it says", async () => {
  const store = sandbox();
  store.add([{ answer: { status: 500 }, times: 2 }, busy]);
  store.add({ answer: { status: 429 } });
  assert.deepEqual(await statuses(store, 1), [500]);
  const [failing, limited] = [500, 429]
    .map((status) => ({ answer: { status } }));
  assert.deepEqual(store.faults, [{ ...failing, times: 1 }, busy, limited]);
  assert.deepEqual(await statuses(store, 4), [500, 503, 429, 200]);
  store.add({ ...busy, times: "always" });
  assert.deepEqual(await statuses(store, 3), [503, 503, 503]);
  assert.equal(store.faults.length, 1);
});

test("a fault waits for a request that fits its method and its path", async () => {
  const store = sandbox({ pets: 1 });
  store.add({ ...busy, when: { method: "POST", path: "/v1/pets" } });
  store.add({ ...busy, when: { path: "/v1/pets/{petId}" } });
  store.add({ ...busy, when: { path: "/v1/pets", method: "GET" } });
  assert.equal((await send(store, "/%70ets")).status, 503); // the same path
  assert.equal((await send(store, "/pets?limit=1")).status, 200);
  assert.equal((await send(store, "/pets/1")).status, 503);
  assert.equal((await send(store, "/pets/1")).status, 200);
  assert.equal((await send(store, "/pets?a=b", { body: REX })).status, 503);
  assert.deepEqual(store.faults, []);
});

test("a fault is checked before it is added, and then none is", () => {
  const store = sandbox();
  const faults = [busy, { lose: "yes" }] as unknown as Fault[];
  assert.throws(
    () => store.add(faults),
    /^TypeError: Cannot add fault 2: lose must be true$/,
  );
  const many = Array<Fault>(1001).fill(busy);
  assert.throws(
    () => store.add(many),
    /^TypeError: Cannot add faults: at most 1000 may wait/,
  );
  const body = "x".repeat(6 * 1024 * 1024);
  const long = Array<Fault>(3).fill({ answer: { status: 503, body } });
  assert.throws(() => store.add(long), /^TypeError: Cannot add faults/);
  assert.deepEqual(store.faults, []);
});

test("an answer alone does no work; with work it does, and invites no second try", async () => {
  const store = sandbox();
  store.add(busy);
  assert.deepEqual(outcome(await create(store)), [503, "1"]);
  assert.equal(await count(store), 0);
  store.add({ ...busy, work: true });
  const second = await create(store);
  assert.deepEqual(outcome(second), [503, null]);
  assert.equal((await second.json()).code, "service_unavailable");
  assert.equal(await count(store), 1);
});

test("an answer has the tester's header fields and body; null leaves a field out", async () => {
  const store = sandbox();
  const headers = {
    "Retry-After": null,
    "X-Sandbox": "yes",
    "Access-Control-Allow-Origin": null,
    "Access-Control-Expose-Headers": "X-Sandbox",
  };
  store.add({ answer: { status: 503, headers } });
  const answer = await send(store);
  assert.equal(answer.headers.get("retry-after"), null);
  assert.equal(answer.headers.get("x-sandbox"), "yes");
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
  const exposed = answer.headers.get("access-control-expose-headers");
  assert.equal(exposed, "X-Sandbox");
  assert.equal(answer.headers.get("content-type"), "application/json");
  store.add({ answer: { status: 502, body: "<h1>Bad" } });
  const page = await send(store);
  assert.equal(page.headers.get("content-type"), null);
  assert.equal(page.headers.get("access-control-allow-origin"), "*");
  assert.equal(await page.text(), "<h1>Bad");
});

test("an answer without a status is the true one with other header fields", async () => {
  const store = sandbox({ pets: 2 });
  const link = { link: null, "X-Sandbox": "yes" };
  store.add([{ answer: { headers: link } }, {
    answer: { headers: { location: null } },
  }]);
  const page = await send(store, "/pets?limit=1");
  assert.deepEqual([page.status, page.headers.get("link")], [200, null]);
  assert.equal(page.headers.get("x-sandbox"), "yes");
  assert.equal(page.headers.get("content-type"), "application/json");
  assert.equal((await page.json()).length, 1);
  const created = await create(store);
  assert.equal(created.headers.get("location"), null);
  assert.equal((await created.json()).id, 3);
});

test("a lost answer rejects as fetch does; with work the pet and its key are kept", async () => {
  const store = sandbox();
  const headers = { "idempotency-key": "7" };
  store.add({ lose: true });
  await assert.rejects(create(store, { headers }), TypeError);
  assert.equal(await count(store), 0);
  store.add({ lose: true, work: true });
  await assert.rejects(create(store, { headers }), TypeError);
  assert.equal(await count(store), 1);
  const again = await create(store, { headers });
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  const sent = store.requests.map(({ status }) => status);
  assert.deepEqual(sent, [null, 200, null, 200, 201]);
});

test("a body that is cut fails after so many bytes; a shorter one is whole", async () => {
  const store = sandbox({ pets: 2 });
  const whole = await (await send(store)).text();
  store.add([{ cut: 10 }, { cut: whole.length + 100 }, {
    cut: 0,
    when: { method: "HEAD" },
  }]);
  const answer = await send(store);
  const length = new TextEncoder().encode(whole).byteLength;
  assert.equal(answer.headers.get("content-length"), `${length}`);
  const reader = answer.body?.getReader();
  const { value } = await reader?.read() ?? {};
  assert.equal(new TextDecoder().decode(value), whole.slice(0, 10));
  await assert.rejects(async () => await reader?.read(), TypeError);
  assert.equal(await (await send(store)).text(), whole);
  assert.equal((await send(store, "/pets", { method: "HEAD" })).status, 200);
});

test("a body that drips comes in pieces that make up the whole", async () => {
  const store = sandbox({ pets: 1 });
  const whole = await (await send(store)).text();
  store.add({ drip: 400 });
  const before = performance.now();
  const pieces: string[] = [];
  for await (const piece of (await send(store)).body ?? []) {
    pieces.push(new TextDecoder().decode(piece));
  }
  assert.equal(pieces.join(""), whole);
  assert.equal(pieces[0]?.length, 40);
  // 59 bytes; timers may fire a little early.
  assert.ok(performance.now() - before > 1000 * whole.length / 400 - 60);
});

test("a delay comes after the work, and is the fault's, or else the sandbox's", async () => {
  const store = sandbox({ delay: 60_000 });
  store.add([{ delay: 0 }, { delay: 0, answer: { status: 500 } }]);
  assert.deepEqual(await statuses(store, 2), [200, 500]);
  const client = new AbortController();
  const { signal } = client;
  const sent = create(store, { signal });
  const entry = () => store.requests.find(({ method }) => method === "POST");
  await until("the work is done", async () => {
    store.add({ delay: 0 });
    return await count(store) === 1;
  });
  assert.equal(entry()?.open, true);
  client.abort();
  await assert.rejects(sent, { name: "AbortError" });
  assert.deepEqual([entry()?.status, entry()?.open], [null, undefined]);
});

test("Prefer makes one answer, and says what it honoured", async () => {
  const store = sandbox();
  const preferring = async (prefer: string) => {
    const { status, headers } = await send(store, "/pets", {
      headers: { prefer },
    });
    return [status, headers.get("preference-applied")];
  };
  assert.deepEqual(await preferring("code=503"), [503, "code=503"]);
  const several = 'respond-async, Code="429"; x=y, delay=1';
  assert.deepEqual(await preferring(several), [429, "code=429, delay=1"]);
  assert.deepEqual(await preferring("delay=0"), [200, "delay=0"]);
  assert.deepEqual(await preferring("code=200"), [200, null]);
  const first = "code=abc, code=503"; // of several, the first counts (RFC 7240 §2)
  assert.deepEqual(await preferring(first), [200, null]);
  const wrong = "code=abc, xcode=500, delay=9999999999";
  assert.deepEqual(await preferring(wrong), [200, null]);
  assert.ok(store.requests.every((entry) => !("fault" in entry)));
  store.add({ answer: { status: 500 } });
  assert.deepEqual(await preferring("code=503"), [500, null]);
});

test("a preflight takes no fault unless that is for OPTIONS, and may ask for Prefer", async () => {
  const store = sandbox();
  store.add(busy);
  const preflight = () =>
    send(store, "/pets", {
      method: "OPTIONS",
      headers: {
        origin: "http://a.example",
        "access-control-request-method": "GET",
      },
    });
  const { status, headers } = await preflight();
  assert.equal(status, 204);
  assert.equal(headers.get("access-control-allow-origin"), "*");
  assert.match(
    String(headers.get("access-control-allow-headers")),
    /Authorization.*, Prefer$/,
  );
  assert.equal(store.faults.length, 1);
  store.add({ ...busy, when: { method: "OPTIONS" } });
  assert.equal((await preflight()).status, 503);
  const answer = await send(store);
  assert.equal(answer.status, 503);
  assert.match(
    String(answer.headers.get("access-control-expose-headers")),
    /, Preference-Applied$/,
  );
});

test("requests has the time, the fault, and the body unless it is 401, 413 or 415", async (t) => {
  t.mock.method(Date, "now", () => 7);
  const store = sandbox({ key: "k" });
  await send(store, "/pets?x=1", { body: REX, headers: { "X-A": "b" } });
  const { headers, ...first } = store.requests[0] ?? {};
  assert.deepEqual(first, {
    time: 7,
    method: "POST",
    target: "/v1/pets?x=1",
    body: REX,
    status: 201,
  });
  assert.equal(headers?.["x-a"], "b");
  assert.equal(headers?.authorization, "Bearer k");
  await create(store, { body: "{" });
  await create(store, { headers: { authorization: "" } });
  await create(store, { body: "é".repeat(40_000) });
  await create(store, { headers: { "content-type": "text/plain" } });
  store.add({ ...busy, times: 2 });
  await create(store);
  store.add({ ...busy, work: true, when: { path: "/v1/pets" } });
  await send(store);
  await create(store);
  const entries = store.requests.slice(1)
    .map(({ status, body, fault }) => [status, body, fault]);
  assert.deepEqual(entries, [
    [400, "{", undefined],
    [401, null, undefined],
    [413, null, undefined],
    [415, null, undefined],
    [503, null, { ...busy, times: 2 }],
    [503, null, { ...busy, times: 1 }],
    [503, REX, { ...busy, work: true, when: { path: "/v1/pets" } }],
  ]);
});

test("the journal keeps the last 1,000 requests, or fewer if they are long", async () => {
  const store = sandbox();
  for (let i = 0; i < 1003; i++) await send(store, `/pets?i=${i}`);
  assert.equal(store.requests.length, 1000);
  assert.equal(store.requests[0]?.target, "/v1/pets?i=3");
  store.reset();
  const value = "x".repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) await send(store, `/pets?i=${i}&x=${value}`);
  assert.equal(store.requests.length, 15);
  assert.match(String(store.requests.at(-1)?.target), /^\/v1\/pets\?i=19&/);
});

test("at its most pets, creates are refused as by a full disk, but not replays", async () => {
  const store = sandbox({ pets: 1, maxPets: 2 });
  const headers = { "idempotency-key": "1" };
  assert.equal((await create(store, { headers })).status, 201);
  assert.deepEqual(outcome(await create(store)), [503, "1"]);
  assert.equal((await create(store, { headers })).status, 201);
  assert.equal(await count(store), 2);
  store.reset();
  assert.equal((await create(store)).status, 201);
});

test("seeded ids are in pages, single pets and links, and later ids follow", async () => {
  const rex = { name: "Rex", categoryId: 1n };
  const ids = [3n, 9007199254740993n, 9007199254740995n];
  const store = sandbox({ pets: ids.map((id) => ({ ...rex, id })) });
  const read = async (answer: Promise<Response>) => {
    const text = await (await answer).text();
    return [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id).join();
  };
  const listed = [];
  for (const after of [0, 2, 3, 4, 9007199254740992n, ...ids.slice(1)]) {
    listed.push(await read(send(store, `/pets?after=${after}&limit=1`)));
  }
  const [first, second, third] = ids.map(String);
  const pages = [first, first, second, second, second, third, ""];
  assert.deepEqual(listed, pages);
  const page = await send(store, "/pets?limit=2");
  assert.match(String(page.headers.get("link")), /after=9007199254740993>/);
  assert.equal(await read(send(store, `/pets/${second}`)), second);
  assert.equal((await send(store, "/pets/9007199254740994")).status, 404);
  assert.equal((await send(store, "/pets/1")).status, 404);
  const created = "9007199254740996";
  assert.equal(await read(create(store)), created);
  const last = `${third},${created}`;
  assert.equal(await read(send(store, `/pets?after=${second}`)), last);
  store.reset();
  assert.equal(await read(send(store, "/pets")), ids.join());
});

test("after the last int64 a create is a 500, and the log says why", async (t) => {
  const { mock } = t.mock.method(console, "error", () => {});
  const rex = { name: "Rex", categoryId: 1n };
  const store = sandbox({ pets: [{ ...rex, id: 2n ** 63n - 2n }] });
  assert.match(await (await create(store)).text(), /"id":9223372036854775807,/);
  assert.deepEqual(outcome(await create(store)), [500, null]);
  const [logged] = mock.calls.map(({ arguments: [cause] }) => String(cause));
  assert.equal(logged, "Error: Cannot create pet: no ids are left");
});

test("wrong pets, a wrong key and wrong names of hosts are refused", async () => {
  const wrong = [
    [{ pets: "50" }, /^TypeError: Cannot seed pets/],
    [{ pets: [{ name: "" }] }, /^TypeError: Cannot seed pets: pet 1: name /],
    [{ key: "a b" }, /^TypeError: API key 1 of 1 must be /],
  ] as const;
  for (const [options, message] of wrong) {
    assert.throws(() => sandbox(options as object), message);
  }
  for (const name of ["http://a", "a:80"]) {
    await assert.rejects(sandbox().serve({ names: ["localhost", name] }), {
      name: "TypeError",
      message:
        `Wrong option names: it must be names of hosts without a port, not "${name}"`,
    });
  }
});
