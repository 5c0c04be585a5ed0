/**
 * Law: the OpenAPI document declares nothing in vain. Here is a request for each example, each error of an
 * operation and each header field; each response is the example, and as the document declares it.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import type { HandlerOptions } from "../../core/handler.ts";
import { type Answer, ask, type Question } from "../contract/ask.ts";
import { handleService, storageThat } from "../support/handle_service.ts";
import {
  assertDeclared,
  type Content,
  namedErrors,
  OPERATIONS,
  type Schema,
  SCHEMAS,
} from "./openapi_schema.ts";
import { parseJson } from "./any_body.ts";
import { REX as PET, REX_JSON } from "../support/pets.ts";

type Trial = readonly [
  method: string,
  address: string,
  question?: Question,
  options?: Partial<HandlerOptions>,
];

const REX = { body: REX_JSON };
const USED = { "idempotency-key": '"used"' };
const TOM = { body: '{"name":"Tom","categoryId":1}', headers: USED };
const TEXT = { "content-type": "text/plain" };

function failing(error: Error): Partial<HandlerOptions> {
  return { storage: storageThat(() => Promise.reject(error)) };
}
const unknown = failing(new StorageError("outcome_unknown", "who knows"));

/** By operation and status, and `example` if the answer is the one shown, what to send to a service with seven Rexes. */
const OWN: Readonly<Record<string, Trial>> = {
  "listPets 200 (the last page)": ["GET", "/pets?after=6"],
  "listPets 200 (with a next page)": ["GET", "/pets?limit=1"],
  "listPets 400 example": ["GET", "/pets?limit=0"],
  "createPet 201": ["POST", "/pets", REX],
  "createPet 201 (replayed)": ["POST", "/pets", { ...REX, headers: USED }],
  "createPet 400 example": ["POST", "/pets", { body: '{"categoryId":1.5}' }],
  "createPet 400 (no body)": ["POST", "/pets"],
  "createPet 400 (a malformed key)": ["POST", "/pets", {
    ...REX,
    headers: { "idempotency-key": '"' },
  }],
  "createPet 408": ["POST", "/pets", { body: new ReadableStream() }, {
    bodyTimeout: 1,
  }],
  "createPet 413": ["POST", "/pets", REX, { maxBodyBytes: 7 }],
  "createPet 415": ["POST", "/pets", { ...REX, headers: TEXT }],
  "createPet 422 example": ["POST", "/pets", TOM],
  "createPet 415 (a coding)": ["POST", "/pets", {
    ...REX,
    headers: { "content-encoding": "gzip" },
  }],
  "createPet 503": ["POST", "/pets", REX, unknown],
  "getPet 200": ["GET", "/pets/7"],
  "getPet 404 example": ["GET", "/pets/8"],
  "getOpenApi 200": ["GET", "/openapi.json"],
  "getOpenApi 304": ["GET", "/openapi.json", {
    headers: { "if-none-match": "*" },
  }],
};

const headers = { "retry-after": "1" };
const counted = { ratelimit: '"key";r=4;t=10', "ratelimit-policy": "k" };
const rateLimit = async () => ({
  allowed: false,
  headers: { ...headers, ...counted },
});
const AWAY = failing(new StorageError("unavailable", "away"));

/** What goes wrong with any operation; all but the first two with those that need a key. */
const COMMON: Readonly<Record<string, readonly [object, object?]>> = {
  "400 (host)": [{ headers: { host: "a/b" } }],
  "405": [{}],
  "401 example": [{ headers: { authorization: undefined } }],
  "401 (a wrong key)": [{ headers: { authorization: "Bearer wrong" } }],
  "429 example": [{}, { rateLimit }],
  "500 (broken)": [{}, failing(new Error("broken"))],
  "503 example": [{}, AWAY],
};

const trials = { ...OWN };
for (const [id, { method, path, security }] of Object.entries(OPERATIONS)) {
  const address = path.replace(/\{.*/, "7");
  const body = method === "POST" ? REX : {};
  const isPublic = security !== undefined;
  const common = Object.entries(COMMON).slice(0, isPublic ? 2 : undefined);
  for (const [what, [question, options = {}]] of common) {
    const trial = { ...body, ...question };
    const sent = what === "405" ? "PUT" : method;
    trials[`${id} ${what}`] = [sent, address, trial, options];
  }
}

test("each example, error and header field of the OpenAPI document comes", async () => {
  const came = new Set<string>();
  for (const [trial, request] of Object.entries(trials)) {
    const [operationId = "", given = "", name] = trial.split(" ");
    const operation = OPERATIONS[operationId] ?? assert.fail(trial);
    const answer = await tryOut(request);
    const { status, headers, text } = answer;
    assert.equal(`${status}`, given, trial);
    assertDeclared(answer, { operation, isHead: false });
    const place = `${status}` in operation.responses ? `${status}` : "default";
    came.add(`${operationId} ${status}`).add(`${operationId} ${place}`);
    for (const field of headers.keys()) {
      came.add(`${operationId} ${place} ${field}`);
    }
    if (name !== "example") continue;
    came.add(`${operationId} ${place} example`);
    const { example } =
      operation.responses[place]?.content?.["application/json"] ?? {};
    assert.deepEqual(JSON.parse(text), example, trial);
  }
  // A server adds these: tests/adapters/standalone/limits_test.ts and log_test.ts.
  const ofServers = / x-request-id$| 401 ratelimit/;
  const missing = declared().filter((what) =>
    !came.has(what) && !ofServers.test(what)
  );
  // The document is kept in memory: nothing sent from outside makes it fail.
  const unseen = ["getOpenApi 500", "getOpenApi default"];
  const toAdd = missing.filter((what) => !unseen.includes(what));
  const advice = "add requests to tests/laws/openapi_examples_test.ts for";
  assert.deepEqual(toAdd, [], `${advice} ${toAdd.join(", ")}`);
  assert.deepEqual(missing, unseen);
});

/** The statuses, header fields and examples of each operation. */
function declared(): readonly string[] {
  return Object.values(OPERATIONS).flatMap((operation) => {
    const { operationId, responses } = operation;
    const named = namedErrors(operation);
    assert.deepEqual(named.filter((status) => status in responses), []);
    const own = Object.entries(responses).flatMap(
      ([status, { headers = {}, content }]) => [
        status,
        ...Object.keys(headers).map((name) =>
          `${status} ${name.toLowerCase()}`
        ),
        ...content?.["application/json"]?.example === undefined
          ? []
          : [`${status} example`],
      ],
    );
    return [...named, ...own].map((what) => `${operationId} ${what}`);
  });
}

test("the named examples are what a client gets that sends them in order", async () => {
  const service = handleService();
  const { listPets, createPet, getPet } = OPERATIONS;
  const examplesOf = (content: Content = {}) =>
    Object.entries(content["application/json"]?.examples ?? {});
  const created = createPet?.responses["201"];
  const requests = examplesOf(createPet?.requestBody?.content);
  const added = examplesOf(created?.content);
  const got = Object.fromEntries(examplesOf(getPet?.responses["200"]?.content));
  const pages = examplesOf(listPets?.responses["200"]?.content);
  const list = async (query: string) =>
    parseJson((await ask(service, "GET", `/pets${query}`)).text);

  const seen = [await list("")];
  for (const [index, [name, { value }]] of requests.entries()) {
    const body = toJson(value);
    assert.equal(body.includes("9007199254740993"), index > 0, name);
    const { text, headers } = await ask(service, "POST", "/pets", { body });
    const pet = parseJson(text);
    assert.deepEqual([name, pet], [
      added[index]?.[0],
      big(added[index]?.[1].value),
    ]);
    const { operationId, parameters } = created?.links?.getPet ??
      assert.fail("there is no link");
    assert.equal(operationId, "getPet");
    assert.deepEqual(parameters, { petId: "$response.body#/id" });
    const { id } = pet as { readonly id: bigint };
    const address = getPet?.path.replace("{petId}", `${id}`) ?? "";
    assert.equal(headers.get("location"), address.slice(1));
    const answer = await ask(service, "GET", address);
    assert.deepEqual(parseJson(answer.text), big(got[name]?.value));
    seen.unshift(await list(""));
  }
  assert.equal(seen.length, requests.length + 1);
  // The pages: one pet, then both, and what an empty store has.
  const [empty, ...others] = seen.reverse();
  const values = pages.map(([, { value }]) => big(value));
  assert.deepEqual(values, [...others, empty]);
});

test("every request body and success with a body has a named example", () => {
  for (
    const { operationId, requestBody, responses } of Object.values(OPERATIONS)
  ) {
    const successes = Object.entries(responses)
      .filter(([status]) => status.startsWith("2"))
      .map(([, response]) => response.content);
    assert.notEqual(successes.length, 0);
    const contents = requestBody
      ? [requestBody.content, ...successes]
      : successes;
    for (const content of contents) {
      const { examples } = content?.["application/json"] ?? {};
      const advice =
        `give each body of ${operationId} a named example, as in core/openapi/examples.ts`;
      assert.notEqual(Object.keys(examples ?? {}).length, 0, advice);
    }
  }
});

/** A value of the document as `parseJson` reads it: all integers are `bigint`. */
function big(value: unknown): unknown {
  return parseJson(toJson(value));
}

function toJson(value: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return JSON.stringify(
    value,
    (_key, one) => typeof one === "bigint" ? rawJSON(`${one}`) : one,
  );
}

test("the document tells the limits of this service", async () => {
  const storage = memoryStorage({ idempotencyRetention: 5_000 });
  const limits = { maxBodyBytes: 777, bodyTimeout: 1234 };
  const { text } = await ask(
    handleService({ storage, ...limits }),
    "GET",
    "/openapi.json",
  );
  const { info, paths } = JSON.parse(text);
  const { responses } = paths["/pets"].post;
  assert.match(info.description, /is kept for 5 s\./);
  assert.match(responses["413"].description, / 777 bytes/);
  assert.match(responses["408"].description, / 1\.234 s\./);
  assert.doesNotMatch(text, /unless the service is configured/);

  const { idempotencyRetention: _, ...silent } = storage;
  const untold = await ask(
    handleService({ storage: silent }),
    "GET",
    "/openapi.json",
  );
  assert.doesNotMatch(untold.text, /is kept for/);
  assert.match(untold.text, / 65536 bytes/);
});

test("the examples of members make a pet that is accepted, and is answered with them", async () => {
  const { NewPet, Pet } = SCHEMAS;
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
    await storage.create(PET);
  }
  const allow = async () => ({ allowed: true, headers: counted });
  const service = handleService({
    storage,
    onError: () => {},
    rateLimit: allow,
    ...options,
  });
  return await ask(service, method, address, question);
}
