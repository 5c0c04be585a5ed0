/**
 * Law: every example in the OpenAPI document is a message that was really sent. An example without a
 * request that brings it about fails, and so does a request whose response is another.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import type { HandlerOptions } from "../../core/service.ts";
import { DOCUMENT } from "./openapi_document.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { type Answer, ask, type Question } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { newPet } from "../support/new_pet.ts";

type Trial = readonly [
  method: string,
  address: string,
  question?: Question,
  options?: Partial<HandlerOptions>,
];

const NO_KEY = { headers: { authorization: undefined } };
const WRONG_KEY = { headers: { authorization: "Bearer wrong" } };
const REX = { body: '{"name":"Rex","categoryId":1}' };
const fail = () => Promise.reject(new StorageError("unavailable", "away"));
const away: Partial<HandlerOptions> = {
  storage: { ...memoryStorage(), create: fail, get: fail, list: fail },
};
const limited: Partial<HandlerOptions> = {
  rateLimit: () =>
    Promise.resolve({ allowed: false, headers: { "retry-after": "1" } }),
};

/** What to send for each example, to a service whose only animals are the Rexes 1 to 7. */
const trials: Readonly<Record<string, Trial>> = {
  "listPets 200 page": ["GET", "/pets?after=6"],
  "listPets 200 end": ["GET", "/pets?after=7"],
  "listPets 400 bounds": ["GET", "/pets?limit=0"],
  "listPets 400 status": ["GET", "/pets?status=gone"],
  "listPets 401 missing": ["GET", "/pets", NO_KEY],
  "listPets 401 invalid": ["GET", "/pets", WRONG_KEY],
  "listPets 429 limited": ["GET", "/pets", {}, limited],
  "listPets default unavailable": ["GET", "/pets", {}, away],
  "createPet 201 added": ["POST", "/pets", REX],
  "createPet 400 members": ["POST", "/pets", { body: '{"categoryId":1.5}' }],
  "createPet 400 missing": ["POST", "/pets"],
  "createPet 400 key": ["POST", "/pets", {
    ...REX,
    headers: { "idempotency-key": '"' },
  }],
  "createPet 401 missing": ["POST", "/pets", NO_KEY],
  "createPet 401 invalid": ["POST", "/pets", WRONG_KEY],
  "createPet 429 limited": ["POST", "/pets", REX, limited],
  "createPet 422 reused": ["POST", "/pets", {
    body: '{"name":"Tom","categoryId":1}',
    headers: { "idempotency-key": '"used"' },
  }],
  "createPet default unavailable": ["POST", "/pets", REX, away],
  "getPet 200 pet": ["GET", "/pets/7"],
  "getPet 401 missing": ["GET", "/pets/7", NO_KEY],
  "getPet 401 invalid": ["GET", "/pets/7", WRONG_KEY],
  "getPet 404 unknown": ["GET", "/pets/8"],
  "getPet 429 limited": ["GET", "/pets/7", {}, limited],
  "getPet default unavailable": ["GET", "/pets/7", {}, away],
};

const operations = Object.values(DOCUMENT.paths)
  .flatMap((item) => Object.values(item));

test("every example response in the OpenAPI document is one that was sent", async () => {
  const tried: string[] = [];
  for (const { operationId, responses } of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      const { examples = {} } = content?.["application/json"] ?? {};
      for (const [name, { value }] of Object.entries(examples)) {
        const trial = `${operationId} ${status} ${name}`;
        tried.push(trial);
        const answer = await tryOut(trials[trial] ?? ["", ""]);
        const expected = status === "default" ? "503" : status;
        assert.equal(`${answer.status}`, expected, trial);
        // The pet that is added is the eighth.
        const text = answer.text.replace('{"id":8', '{"id":7');
        assert.deepEqual(JSON.parse(text), value, trial);
      }
    }
  }
  assert.deepEqual(tried.sort(), Object.keys(trials).sort());
});

test("every example request in the OpenAPI document is accepted", async () => {
  const bodies = operations.flatMap(({ requestBody }) =>
    Object.values(requestBody?.content["application/json"]?.examples ?? {})
  );
  assert.equal(bodies.length, 2);
  for (const { value } of bodies) {
    const body = JSON.stringify(value);
    assert.equal((await tryOut(["POST", "/pets", { body }])).status, 201, body);
  }
});

/** Asks a service that has seven Rexes. */
async function tryOut(
  [method, address, question = {}, options]: Trial,
): Promise<Answer> {
  const storage = memoryStorage();
  const headers = { "idempotency-key": "used" };
  await ask(handleService({ storage }), "POST", "/pets", { ...REX, headers });
  for (let i = 1; i < 7; i++) {
    await storage.create(
      newPet({ name: "Rex", categoryId: 1n, status: "available" }),
    );
  }
  const service = handleService({ storage, onError: () => {}, ...options });
  return await ask(service, method, address, question);
}
