/**
 * Law: every example in the OpenAPI document is a message that was really sent. An example without a
 * request that brings it about fails, and so does a request whose response is another.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import type { HandlerOptions } from "../../core/service.ts";
import { documentOf, type OperationDescription } from "./openapi_document.ts";
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
    Promise.resolve({
      "retry-after": "1",
      "ratelimit-policy": '"default";q=100;w=10',
      "ratelimit": '"default";r=0;t=5',
    }),
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

const BASE_URLS = ["/v1", "https://api.example.com/shop/v1"];

function operations(baseUrl: string): readonly OperationDescription[] {
  return Object.values(documentOf(baseUrl).paths).flatMap((item) =>
    Object.values(item)
  );
}

test("every example response in the OpenAPI document is one that was sent", async () => {
  for (const baseUrl of BASE_URLS) {
    const examples = operations(baseUrl).flatMap((operation) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) =>
        Object.entries(content?.["application/json"]?.examples ?? {}).map((
          [name, { value }],
        ) => [`${operation.operationId} ${status} ${name}`, value] as const)
      )
    );
    assert.deepEqual(
      examples.map(([name]) => name).sort(),
      Object.keys(trials).sort(),
    );
    for (const [name, value] of examples) {
      const [method, address, question = {}, more = {}] = trials[name] ?? [];
      assert.ok(method !== undefined && address !== undefined);
      // The animal that is added is the seventh.
      const pets = name === "createPet 201 added" ? 6 : 7;
      const answer = await tryOut(method, address, {
        question,
        options: { ...more, baseUrl },
        pets,
      });
      const status = `${answer.status}`;
      assert.ok(name.includes(status === "503" ? " default " : status), name);
      assert.deepEqual(JSON.parse(answer.text), value, name);
    }
  }
});

test("every example request in the OpenAPI document is accepted", async () => {
  const bodies = operations("/v1").flatMap(({ requestBody }) =>
    Object.values(requestBody?.content["application/json"]?.examples ?? {})
  );
  assert.equal(bodies.length, 2);
  for (const { value } of bodies) {
    const question = { body: JSON.stringify(value) };
    const answer = await tryOut("POST", "/pets", { question });
    assert.equal(answer.status, 201, question.body);
  }
});

/** Asks a service that has some Rexes. */
async function tryOut(
  method: string,
  address: string,
  { question, options = {}, pets = 7 }: {
    readonly question: Question;
    readonly options?: Partial<HandlerOptions>;
    readonly pets?: number;
  },
): Promise<Answer> {
  const storage = memoryStorage();
  await ask(handleService({ storage }), "POST", "/pets", {
    ...REX,
    headers: { "idempotency-key": "used" },
  });
  for (let i = 1; i < pets; i++) {
    await storage.create(
      newPet({ name: "Rex", categoryId: 1n, status: "available" }),
    );
  }
  const service = handleService({ storage, onError: () => {}, ...options });
  return await ask(service, method, address, question);
}
