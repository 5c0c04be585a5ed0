/**
 * Law: every example in the OpenAPI document is a message that was really sent. An example without a
 * request that brings it about fails, and so does a request whose response is another.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import type { HandlerOptions } from "../../core/service.ts";
import { DOCUMENT, type Schema } from "./openapi_document.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { type Answer, ask, type Question } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { newPet } from "../support/new_pet.ts";
import { storageThat } from "../support/storage_that.ts";

type Trial = readonly [
  method: string,
  address: string,
  question?: Question,
  options?: Partial<HandlerOptions>,
];

const NO_KEY = { headers: { authorization: undefined } };
const REX = { body: '{"name":"Rex","categoryId":1}' };
const away: Partial<HandlerOptions> = {
  storage: storageThat(() =>
    Promise.reject(new StorageError("unavailable", "away"))
  ),
};
const limited: Partial<HandlerOptions> = {
  rateLimit: () =>
    Promise.resolve({ allowed: false, headers: { "retry-after": "1" } }),
};

/** What to send for each example, to a service whose only animals are the Rexes 1 to 7. */
const trials: Readonly<Record<string, Trial>> = {
  "listPets 400": ["GET", "/pets?limit=0"],
  "listPets 401": ["GET", "/pets", NO_KEY],
  "listPets 429": ["GET", "/pets", {}, limited],
  "listPets default": ["GET", "/pets", {}, away],
  "createPet 400": ["POST", "/pets", { body: '{"categoryId":1.5}' }],
  "createPet 401": ["POST", "/pets", NO_KEY],
  "createPet 429": ["POST", "/pets", REX, limited],
  "createPet 422": ["POST", "/pets", {
    body: '{"name":"Tom","categoryId":1}',
    headers: { "idempotency-key": '"used"' },
  }],
  "createPet default": ["POST", "/pets", REX, away],
  "getPet 401": ["GET", "/pets/7", NO_KEY],
  "getPet 404": ["GET", "/pets/8"],
  "getPet 429": ["GET", "/pets/7", {}, limited],
  "getPet default": ["GET", "/pets/7", {}, away],
};

const operations = Object.values(DOCUMENT.paths)
  .flatMap((item) => Object.values(item));

test("every example response in the OpenAPI document is one that was sent", async () => {
  const tried: string[] = [];
  for (const { operationId, responses } of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      const example = content?.["application/json"]?.example;
      if (example === undefined) continue;
      const trial = `${operationId} ${status}`;
      tried.push(trial);
      const request = trials[trial];
      assert.ok(request, `No trial says how to get the example ${trial}`);
      const answer = await tryOut(request);
      const expected = status === "default" ? "503" : status;
      assert.equal(`${answer.status}`, expected, trial);
      assert.deepEqual(JSON.parse(answer.text), example, trial);
    }
  }
  assert.deepEqual(tried.sort(), Object.keys(trials).sort());
});

test("the examples of members make a pet that is accepted, and is answered with them", async () => {
  const { NewPet, Pet } = DOCUMENT.components.schemas;
  const body = JSON.stringify(exampleOf(NewPet));
  const answer = await tryOut(["POST", "/pets", { body }]);
  assert.equal(answer.status, 201);
  // The pet that is added is the eighth.
  const pet = { ...exampleOf(Pet), id: 8, status: "available" };
  assert.deepEqual(JSON.parse(answer.text), pet);
});

function exampleOf(schema: Schema | undefined): Record<string, unknown> {
  const members = Object.entries(schema?.properties ?? {});
  return Object.fromEntries(
    members.flatMap(([name, { examples }]) =>
      examples === undefined ? [] : [[name, examples[0]]]
    ),
  );
}

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
