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
const MALFORMED_HOST = { headers: { host: "a/b" } };
const REX = { body: '{"name":"Rex","categoryId":1}' };
const broken = failing(() => new Error("broken"));
const away = failing(() => new StorageError("unavailable", "away"));
const limited: Partial<HandlerOptions> = {
  rateLimit: () =>
    Promise.resolve({
      "retry-after": "1",
      "ratelimit-policy": '"default";q=100;w=10',
      "ratelimit": '"default";r=0;t=5',
    }),
};
const unknown = failing(() => new StorageError("outcome_unknown", "lost"));

/** What to send for each example, to a service whose only animals are the Rexes 1 to 7. */
const trials: Readonly<Record<string, Trial>> = {
  "listPets 200 page": ["GET", "/pets?after=6"],
  "listPets 200 end": ["GET", "/pets?after=7"],
  "listPets 400 bounds": ["GET", "/pets?limit=0"],
  "listPets 400 status": ["GET", "/pets?status=gone"],
  "listPets 400 host": ["GET", "/pets", MALFORMED_HOST],
  "listPets 401 missing": ["GET", "/pets", NO_KEY],
  "listPets 401 invalid": ["GET", "/pets", WRONG_KEY],
  "listPets 405 method": ["PUT", "/pets"],
  "listPets 429 limited": ["GET", "/pets", {}, limited],
  "listPets 500 failure": ["GET", "/pets", {}, broken],
  "listPets 503 unavailable": ["GET", "/pets", {}, away],
  "createPet 201 added": ["POST", "/pets", REX],
  "createPet 400 members": ["POST", "/pets", { body: '{"categoryId":1.5}' }],
  "createPet 400 missing": ["POST", "/pets"],
  "createPet 400 json": ["POST", "/pets", { body: "{" }],
  "createPet 400 key": ["POST", "/pets", {
    ...REX,
    headers: { "idempotency-key": '"' },
  }],
  "createPet 400 host": ["POST", "/pets", MALFORMED_HOST],
  "createPet 401 missing": ["POST", "/pets", NO_KEY],
  "createPet 401 invalid": ["POST", "/pets", WRONG_KEY],
  "createPet 405 method": ["DELETE", "/pets"],
  "createPet 408 late": ["POST", "/pets", { body: new ReadableStream() }, {
    bodyTimeout: 1,
  }],
  "createPet 413 large": ["POST", "/pets", { body: " ".repeat(65_537) }],
  "createPet 415 type": ["POST", "/pets", {
    ...REX,
    headers: { "content-type": "text/plain" },
  }],
  "createPet 415 coding": ["POST", "/pets", {
    ...REX,
    headers: { "content-encoding": "gzip" },
  }],
  "createPet 429 limited": ["POST", "/pets", REX, limited],
  "createPet 422 reused": ["POST", "/pets", {
    body: '{"name":"Tom","categoryId":1}',
    headers: { "idempotency-key": '"used"' },
  }],
  "createPet 500 failure": ["POST", "/pets", REX, broken],
  "createPet 503 unavailable": ["POST", "/pets", REX, away],
  "createPet 503 unknown": ["POST", "/pets", REX, unknown],
  "getPet 200 pet": ["GET", "/pets/7"],
  "getPet 400 host": ["GET", "/pets/7", MALFORMED_HOST],
  "getPet 401 missing": ["GET", "/pets/7", NO_KEY],
  "getPet 401 invalid": ["GET", "/pets/7", WRONG_KEY],
  "getPet 404 unknown": ["GET", "/pets/8"],
  "getPet 405 method": ["DELETE", "/pets/7"],
  "getPet 429 limited": ["GET", "/pets/7", {}, limited],
  "getPet 500 failure": ["GET", "/pets/7", {}, broken],
  "getPet 503 unavailable": ["GET", "/pets/7", {}, away],
  "optionsPets 400 host": ["OPTIONS", "/pets", MALFORMED_HOST],
  "optionsPet 400 host": ["OPTIONS", "/pets/7", MALFORMED_HOST],
  "getOpenApi 400 host": ["GET", "/openapi.json", MALFORMED_HOST],
  "getOpenApi 405 method": ["POST", "/openapi.json"],
  "optionsOpenApi 400 host": ["OPTIONS", "/openapi.json", MALFORMED_HOST],
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
        question: renewed(question),
        options: { ...more, baseUrl },
        pets,
      });
      assert.equal(`${answer.status}`, name.split(" ")[1], name);
      assert.deepEqual(JSON.parse(answer.text), value, name);
    }
  }
});

test("every example request in the OpenAPI document is accepted", async () => {
  const bodies = operations("/v1").flatMap(({ requestBody }) =>
    Object.values(requestBody?.content["application/json"]?.examples ?? {})
  );
  assert.equal(bodies.length, 2);
  for (const { summary, value } of bodies) {
    const question = { body: JSON.stringify(value) };
    const answer = await tryOut("POST", "/pets", { question });
    assert.equal(answer.status, 201, summary);
  }
});

test("every example of a header in the OpenAPI document is one that was sent", async () => {
  for (const baseUrl of BASE_URLS) {
    const sent = new Set<string>();
    const tried: readonly Trial[] = [
      ...Object.values(trials),
      ["GET", "/pets?limit=2&after=5"],
      ["GET", "/openapi.json"],
      ["POST", "/pets", { ...REX, headers: { "idempotency-key": "used" } }],
    ];
    for (const [method, address, question = {}, more = {}] of tried) {
      for (const pets of [6, 8]) {
        const answer = await tryOut(method, address, {
          question: renewed(question),
          options: { ...more, baseUrl },
          pets,
        });
        for (const value of answer.headers.values()) sent.add(value);
      }
    }
    const { headers } = documentOf(baseUrl).components;
    for (const [name, { example }] of Object.entries(headers)) {
      if (name === "ETag") assert.equal(example, undefined);
      else assert.ok(sent.has(`${example}`), `${name}: ${example}`);
    }
  }
});

/** The same question, to ask once more: a stream is read only once. */
function renewed(question: Question): Question {
  return question.body instanceof ReadableStream
    ? { ...question, body: new ReadableStream() }
    : question;
}

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

/** A storage whose every operation fails. */
function failing(error: () => Error): Partial<HandlerOptions> {
  return {
    storage: {
      ...memoryStorage(),
      create: () => Promise.reject(error()),
      get: () => Promise.reject(error()),
      list: () => Promise.reject(error()),
    },
  };
}
