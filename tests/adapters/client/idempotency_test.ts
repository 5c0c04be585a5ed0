/** Creates with an `Idempotency-Key`: what is sent, what is tried again, and what is said of it. */
import { fc, runs } from "../../support/property.ts";
import assert from "node:assert/strict";
import test from "node:test";
import { PetStoreError } from "../../../adapters/client/mod.ts";
import type { CheckedPet, Pet } from "../../../mod.ts";
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
  testClock,
  TRANSIENT,
  watchedBody,
} from "./scripted.ts";

const added = () => json(petJson(7n), { status: 201 });

function keysOf(requests: readonly Request[]): readonly (string | null)[] {
  return requests.map(({ headers }) => headers.get("idempotency-key"));
}

test("each create sends 128 random bits as a structured-field string; nothing else does", async () => {
  const steps = Array.from({ length: 100 }, () => added());
  const { client, requests } = scripted([
    ...steps,
    json("[]"),
    json(petJson(7n)),
  ]);
  for (const _ of steps) await client.createPet(REX);
  const keys = keysOf(requests);
  assert.equal(new Set(keys).size, 100);
  for (const key of keys) {
    assert.match(key ?? "", /^"[0-9]{1,20}-[0-9]{1,20}"$/);
  }
  await client.listPets();
  await client.getPet(7n);
  assert.deepEqual(keysOf(requests).slice(100), [null, null]);
});

const limited = () => refusal("too_many_requests", 429, { "retry-after": "1" });

for (const [what, step] of [...TRANSIENT, ["its 429", limited] as const]) {
  test(`a create is tried again after ${what}, with the same key and body`, async () => {
    const headers = { "idempotency-replayed": "true" };
    const { client, requests } = scripted([
      step,
      step,
      step,
      json(petJson(7n), { status: 201, headers }),
    ]);
    assert.equal((await client.createPet(REX)).id, 7n);
    const keys = keysOf(requests);
    assert.equal(keys.length, 4);
    assert.equal(new Set(keys).size, 1);
    assert.notEqual(keys[0], null);
    const bodies = await Promise.all(requests.map((each) => each.text()));
    assert.deepEqual(bodies, Array(4).fill('{"name":"Rex","categoryId":1}'));
  });
}

test("a create is not tried again after a refusal that says why", async () => {
  for (
    const [code, status] of [
      ["bad_request", 400],
      ["unauthorized", 401],
      ["unsupported_media_type", 415],
      ["idempotency_key_reused", 422],
      ["internal_error", 500],
    ] as const
  ) {
    const { client, requests } = scripted([refusal(code, status)]);
    const error = await failure(client.createPet(REX));
    assert.deepEqual([error.code, error.status], [code, status]);
    assert.equal(requests.length, 1);
  }
});

test("a refusal after an attempt whose end is unknown leaves it unknown", async () => {
  const nothing = () =>
    refusal("service_unavailable", 503, { "retry-after": "1" });
  const last = [
    () => refusal("unauthorized", 401),
    () => refusal("too_many_requests", 429, { "retry-after": "31" }),
  ];
  for (const end of last) {
    const unknown = scripted([noConnection, nothing, end]);
    const error = await failure(unknown.client.createPet(REX));
    assert.equal(error.status, end().status);
    assert.equal(error.uncertain, true);
    const known = scripted([nothing, nothing, end]);
    assert.equal((await failure(known.client.createPet(REX))).uncertain, false);
    // A read is never uncertain.
    const read = scripted([noConnection, nothing, end]);
    assert.equal((await failure(read.client.listPets())).uncertain, false);
  }
});

test("with idempotentCreates: false a create sends no key", async () => {
  const { client, requests } = scripted([added()], {
    idempotentCreates: false,
  });
  await client.createPet(REX);
  assert.deepEqual(keysOf(requests), [null]);
});

// Faults between a client and a service that honours the key.
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

/** A service that honours the key, behind a network where each request meets the next fault. */
function faulty(faults: Iterator<Fault>) {
  const clock = testClock();
  const byKey = new Map<string, Pet>();
  let key = "";
  const service = inProcess({}, (storage) => ({
    ...storage,
    async create(pet: CheckedPet) {
      const created = byKey.get(key) ?? await storage.create(pet);
      byKey.set(key, created);
      return created;
    },
  }));
  async function fetch(request: Request): Promise<Response> {
    const now = faults.next().value ?? "none";
    if (now === "lost request") noConnection();
    if (now === "proxy 503 before") return page(503, { "retry-after": "1" });
    key = request.headers.get("idempotency-key") ?? "";
    const response = await service.handle(request);
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
  return { client, storage: service.storage };
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
            assert.deepEqual(stored, [outcome]);
          } else {
            assert.ok(bursts.some(({ length }) => length > 3), `${outcome}`);
            assert.ok(stored.length <= (outcome.uncertain ? 1 : 0));
          }
        }
      },
    ),
    runs(300),
  );
});
