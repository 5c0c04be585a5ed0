/** Failures that are tried again, when, and those that never are. */
import assert from "node:assert/strict";
import test from "node:test";
import { parseRetryAfter } from "../../../adapters/client/retry.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { inProcess } from "./in_process.ts";
import {
  failure,
  json,
  noConnection,
  page,
  petJson,
  refusal,
  REX,
  scripted,
  type Step,
  testClock,
  TRANSIENT,
} from "./scripted.ts";

/** Creates without an `Idempotency-Key`; those with one are in `idempotency_test.ts`. */
const KEYLESS = { idempotentCreates: false };
const NOTHING_CHANGED = () =>
  refusal("service_unavailable", 503, { "retry-after": "1" });

const lasting: readonly [string, Step][] = [
  ["the service's 400", () => refusal("bad_request", 400)],
  ["its 401", () => refusal("unauthorized", 401)],
  ["its 404", () => refusal("not_found", 404)],
  ["its 405", () => refusal("method_not_allowed", 405)],
  ["its 413", () => refusal("payload_too_large", 413)],
  ["its 415", () => refusal("unsupported_media_type", 415)],
  ["its 500", () => refusal("internal_error", 500)],
  ...[302, 404, 500].map(
    (status): [string, Step] => [`a proxy's ${status}`, () => page(status)],
  ),
  ["JSON that is no Pet", () => json("7")],
  ["another status of success", () => new Response(null, { status: 204 })],
];

for (const [what, step] of TRANSIENT) {
  test(`a read is tried again after ${what}`, async () => {
    const { client, requests } = scripted(
      [step, step, step, json("[]"), step, json(petJson(7n))],
    );
    assert.deepEqual(await client.listPets(), { pets: [] });
    assert.equal((await client.getPet(7n)).id, 7n);
    assert.equal(requests.length, 6);
    const urls = requests.slice(0, 4).map(({ url }) => url);
    assert.equal(new Set(urls).size, 1, "the same request again");
  });
}

for (const [what, step] of lasting) {
  test(`a read is not tried again after ${what}`, async () => {
    const { client, requests } = scripted([step, step]);
    await failure(client.listPets());
    await failure(client.getPet(7n));
    assert.equal(requests.length, 2);
  });
}

test("a create is tried again if the service says that nothing was changed", async () => {
  const { client, requests, clock } = scripted([
    NOTHING_CHANGED,
    NOTHING_CHANGED,
    json(petJson(7n), { status: 201 }),
  ], KEYLESS);
  assert.equal((await client.createPet(REX)).id, 7n);
  const bodies = await Promise.all(requests.map((each) => each.text()));
  assert.deepEqual(bodies, Array(3).fill('{"name":"Rex","categoryId":1}'));
  assert.deepEqual(clock.pauses, [1250, 1500]);
});

for (const [what, step] of [...TRANSIENT, ...lasting]) {
  if (what === "its 503 that changed nothing") continue;
  test(`a create is not tried again after ${what}`, async () => {
    const { client, requests } = scripted([step], KEYLESS);
    await failure(client.createPet(REX));
    assert.equal(requests.length, 1);
  });
}

test("a create is not tried again after another 503, whatever header it has", async () => {
  const headers = { "retry-after": "1" };
  const error = { code: "service_unavailable", message: "No", status: 500 };
  const steps = [
    page(503, headers),
    json('{"message":"No"}', { status: 503, headers }),
    json(JSON.stringify(error), { status: 503, headers }),
    refusal("internal_error", 503, headers),
    refusal("service_unavailable", 503, { "retry-after": "soon" }),
  ];
  for (const step of steps) {
    const { client, requests } = scripted([step], KEYLESS);
    assert.equal((await failure(client.createPet(REX))).uncertain, true);
    assert.equal(requests.length, 1);
  }
});

test("both 503s of the service itself are told apart", async () => {
  for (const kind of ["unavailable", "outcome_unknown"] as const) {
    const { handle } = inProcess({}, (storage) => ({
      ...storage,
      create: () => Promise.reject(new StorageError(kind, "x")),
    }));
    const { client, requests } = scripted(Array(4).fill(handle), KEYLESS);
    const error = await failure(client.createPet(REX));
    assert.equal(error.code, "service_unavailable");
    assert.equal(error.uncertain, kind === "outcome_unknown");
    assert.equal(requests.length, kind === "unavailable" ? 4 : 1);
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
    assert.equal(requests.length, retries + 1);
    assert.equal(error.requestId, String(retries));
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
    assert.deepEqual(clock.pauses, bounds.map((bound) => bound * chance));
  }
});

test("Retry-After is the least that a pause takes", async () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0);
  for (
    const [field, least] of [
      ["7", 7000],
      ["30", 30_000],
      ["Sat, 21 Nov 2026 12:00:09 GMT", 9000],
      ["soon", 0],
    ] as const
  ) {
    const { client, clock } = scripted([
      page(503, { "retry-after": field }),
      json("[]"),
    ], { clock: testClock({ start: now }) });
    await client.listPets();
    assert.deepEqual(clock.pauses, [least + 250], field);
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

test("parseRetryAfter reads seconds, and dates in GMT", () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 0);
  const date = "Sun, 06 Nov 1994 08:49:37 GMT";
  for (const field of ["37", date, "Sunday, 06-Nov-94 08:49:37 GMT"]) {
    assert.equal(parseRetryAfter(field, now), 37_000, field);
  }
  assert.equal(parseRetryAfter(date, now + 60_000), 0, "in the past");
  const wrong = ["Sun Nov  6 08:49:37 1994", "", "-1", "1.5", "+1", "1e3"];
  for (const field of [...wrong, "Sun", "x"]) {
    assert.equal(parseRetryAfter(field, now), undefined, field);
  }
});
