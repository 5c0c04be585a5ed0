/** Failures that are retried, and when, and those that never are. */
import assert from "node:assert/strict";
import test from "node:test";
import { type Client, PetStoreError } from "../../../adapters/client/mod.ts";
import { fc, runs } from "../../support/property.ts";
import {
  failure,
  inProcess,
  json,
  noConnection,
  page,
  petJson,
  refusal,
  scripted,
  type Step,
  testClock,
  watchedBody,
} from "./scripted.ts";
import { REX } from "../../support/pets.ts";

const SOON = { "retry-after": "1" };
const KEYLESS = { idempotentCreates: false };
const added = () => json(petJson(7n), { status: 201 });
const nothingChanged = () => refusal("service_unavailable", 503, SOON);

/** By kind: the options of its client, its success, and the call itself. */
const CALLS = {
  "a read": [{}, () => json("[]"), (client: Client) => client.listPets()],
  "a create with a key": [{}, added, (client: Client) => client.createPet(REX)],
  "a create without a key": [
    KEYLESS,
    added,
    (client: Client) => client.createPet(REX),
  ],
} as const;

/** By what is tried again, the failures. */
const FAILURES: Readonly<Record<string, Readonly<Record<string, Step>>>> = {
  "any call": { "the service's 503 with Retry-After": nothingChanged },
  "a read or a create with a key": {
    "no connection": noConnection,
    "a response that breaks off": () =>
      new Response(watchedBody(["["], "fails").body),
    "the service's 408": () => refusal("request_timeout", 408),
    "the service's 429": () => refusal("too_many_requests", 429, SOON),
    "the service's 503 without Retry-After": () =>
      refusal("service_unavailable", 503),
    "the service's 503 with a malformed Retry-After": () =>
      refusal("service_unavailable", 503, { "retry-after": "soon" }),
    "a 503 with the code of a 500": () => refusal("internal_error", 503, SOON),
    ...pages(408, 429, 502, 503, 504),
  },
  "no call": {
    "the service's 400": () => refusal("bad_request", 400),
    "the service's 401": () => refusal("unauthorized", 401),
    "the service's 404": () => refusal("not_found", 404),
    "the service's 405": () => refusal("method_not_allowed", 405),
    "the service's 413": () => refusal("payload_too_large", 413),
    "the service's 415": () => refusal("unsupported_media_type", 415),
    "the service's 422": () => refusal("idempotency_key_reused", 422),
    "the service's 500": () => refusal("internal_error", 500),
    "JSON that is no Pet": () => json("7"),
    "another status of success": () => new Response(null, { status: 204 }),
    ...pages(302, 404, 500),
  },
};

/** Error pages of a proxy, by what they are. */
function pages(...statuses: readonly number[]): Readonly<Record<string, Step>> {
  return Object.fromEntries(
    statuses.map((status) =>
      [`a proxy's ${status}`, () => page(status, SOON)] as const
    ),
  );
}

function keysOf(requests: readonly Request[]): (string | null)[] {
  return requests.map(({ headers }) => headers.get("idempotency-key"));
}

for (const [which, failures] of Object.entries(FAILURES)) {
  for (const [what, step] of Object.entries(failures)) {
    test(`${which} is tried again after ${what}`, async () => {
      for (const [name, [options, success, call]] of Object.entries(CALLS)) {
        const steps = [step, step, step, success];
        const { client, requests } = scripted(steps, options);
        const isAgain = which === "any call" || which.includes(name);
        await (isAgain ? call(client) : failure(call(client)));
        assert.equal(requests.length, isAgain ? 4 : 1, name);
        const sent = requests.map(async (request) =>
          [request.url, keysOf([request]), await request.text()].join()
        );
        assert.equal(new Set(await Promise.all(sent)).size, 1, name);
      }
    });
  }
}

test("each create alone sends 128 random bits as a structured-field string", async () => {
  const { client, requests } = scripted([
    ...Array<Step>(100).fill(added),
    () => json("[]"),
    () => json(petJson(7n)),
  ]);
  for (let i = 0; i < 100; i++) await client.createPet(REX);
  await client.listPets();
  await client.getPet(7n);
  const keys = keysOf(requests);
  assert.deepEqual(keys.splice(100), [null, null]);
  assert.equal(new Set(keys).size, 100);
  for (const key of keys) {
    assert.match(key ?? "", /^"[0-9]{1,20}-[0-9]{1,20}"$/);
  }
  const keyless = scripted([added], KEYLESS);
  await keyless.client.createPet(REX);
  assert.deepEqual(keysOf(keyless.requests), [null]);
});

test("a refusal after an attempt whose end is unknown leaves it unknown", async () => {
  const last = [
    () => refusal("unauthorized", 401),
    () => refusal("too_many_requests", 429, { "retry-after": "31" }),
  ];
  for (const end of last) {
    const unknown = scripted([noConnection, nothingChanged, end]);
    const error = await failure(unknown.client.createPet(REX));
    assert.equal(error.status, end().status);
    assert.equal(error.uncertain, true, `${end().status}`);
    const known = scripted([nothingChanged, nothingChanged, end]);
    assert.equal(
      (await failure(known.client.createPet(REX))).uncertain,
      false,
      `${end().status}`,
    );
    // A read is never uncertain.
    const read = scripted([noConnection, nothingChanged, end]);
    assert.equal(
      (await failure(read.client.listPets())).uncertain,
      false,
      `${end().status}`,
    );
  }
});

test("a call is tried again at most `retries` times, and rejects with the last error", async () => {
  for (const retries of [0, 1, 2, 5]) {
    const steps = Array.from(
      { length: retries + 1 },
      (_, i) => page(503, { "x-request-id": String(i) }),
    );
    const { client, requests } = scripted(steps, { retries });
    const error = await failure(client.listPets());
    assert.equal(requests.length, retries + 1, `${retries}`);
    assert.equal(error.requestId, String(retries), `${retries}`);
  }
});

test("pauses vary below a bound that doubles", async () => {
  const bounds = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
  for (const chance of [0, 0.5, 0.75]) {
    const { client, clock } = scripted(
      [...Array<Step>(bounds.length).fill(noConnection), json("[]")],
      { retries: bounds.length, random: () => chance },
    );
    await client.listPets();
    assert.deepEqual(
      clock.pauses,
      bounds.map((bound) => bound * chance),
      `${chance}`,
    );
  }
});

test("Retry-After, in seconds or as a date in GMT, is the least that a pause takes", async () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0);
  const wrong = ["Sat Nov 21 12:00:09 2026", "", "-1", "1.5", "+1", "1e3", "x"];
  const cases = [
    ["7", 7000],
    ["30", 30_000],
    ["Sat, 21 Nov 2026 12:00:09 GMT", 9000],
    ["Saturday, 21-Nov-26 12:00:09 GMT", 9000],
    ["Sat, 21 Nov 2026 11:59:00 GMT", 0],
    ...wrong.map((field) => [field, 0] as const),
  ] as const;
  for (const [field, least] of cases) {
    const { client, clock } = scripted([
      page(503, { "retry-after": field }),
      json("[]"),
    ], { clock: testClock({ start: now }) });
    await client.listPets();
    assert.deepEqual(clock.pauses, [least + 250], field);
  }
});

test("a date in Retry-After is read by the server's clock if the answer has a Date", async () => {
  const start = Date.UTC(2026, 10, 21, 12, 0, 0);
  const cases = [
    ["Sat, 21 Nov 2026 13:00:00 GMT", "Sat, 21 Nov 2026 13:00:09 GMT"], // an hour ahead
    ["Sat, 21 Nov 2026 11:00:00 GMT", "Sat, 21 Nov 2026 11:00:09 GMT"],
    ["yesterday", "Sat, 21 Nov 2026 12:00:09 GMT"],
  ] as const;
  for (const [date, field] of cases) {
    const { client, clock } = scripted([
      page(503, { date, "retry-after": field }),
      json("[]"),
    ], { clock: testClock({ start }) });
    await client.listPets();
    assert.deepEqual(clock.pauses, [9250], date);
  }
});

test("a Retry-After beyond 30 s is for the caller, at once", async () => {
  const { client, requests, clock } = scripted([
    page(429, { "retry-after": "31" }),
    refusal("service_unavailable", 503, { "retry-after": "3600" }),
    page(503, { "retry-after": "9".repeat(400) }),
  ]);
  assert.equal((await failure(client.listPets())).retryAfter, 31_000);
  const create = await failure(client.createPet(REX));
  assert.equal(create.retryAfter, 3_600_000);
  assert.equal(create.uncertain, false);
  assert.equal((await failure(client.listPets())).retryAfter, Infinity);
  assert.equal(requests.length, 3);
  assert.deepEqual(clock.pauses, []);
});

// Faults between a client and the service.
const fault = fc.constantFrom(
  "none",
  "lost request",
  "lost response",
  "broken response",
  "late response",
  "proxy 503 before",
  "proxy 502 after",
);
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

/** A service behind a network where each request meets the next fault. */
function faulty(faults: Iterator<Fault>) {
  const clock = testClock();
  const { handle, storage } = inProcess();
  async function fetch(request: Request): Promise<Response> {
    const now = faults.next().value ?? "none";
    if (now === "lost request") noConnection();
    if (now === "proxy 503 before") return page(503, { "retry-after": "1" });
    const response = await handle(request);
    if (now === "lost response") noConnection();
    if (now === "broken response") {
      return new Response(watchedBody(["{"], "fails").body, response);
    }
    if (now === "late response") {
      queueMicrotask(clock.expire);
      return await new Promise(() => {});
    }
    return now === "proxy 502 after" ? page(502) : response;
  }
  const { client } = scripted(Array(10_000).fill(fetch), { clock });
  return { client, storage };
}

// Law: of each create there is exactly one pet if it is fulfilled, at most one if it is uncertain, none
// otherwise; and it is fulfilled if no more faults than `retries` come in a row.
test("creates with a key are never doubled, and outlive any three faults in a row", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fault, { maxLength: 4 }), { maxLength: 8 }),
      async (bursts) => {
        const { client, storage } = faulty(
          bursts.flatMap((burst): Fault[] => [...burst, "none"]).values(),
        );
        for (const [i] of bursts.entries()) {
          const name = `pet ${i}`;
          const outcome = await client.createPet({ name, categoryId: 1n })
            .catch((error: unknown) => error);
          const { pets } = await storage.list({ limit: 1000 });
          const stored = pets.filter((pet) => pet.name === name);
          if (!(outcome instanceof PetStoreError)) {
            assert.deepEqual(stored, [outcome], `${i}`);
          } else {
            assert.ok(bursts.some(({ length }) => length > 3), `${outcome}`);
            assert.ok(stored.length <= (outcome.uncertain ? 1 : 0), `${i}`);
          }
        }
      },
    ),
    runs(300),
  );
});
