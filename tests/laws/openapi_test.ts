/**
 * Laws: the OpenAPI document is true. What it allows is accepted, what it forbids is refused, and
 * nothing is answered that it does not declare.
 *
 * A law that a false document passes is worth nothing: below, the document is made false in many
 * ways, and the law has to find each of them.
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../core/pets/int64.ts";
import type { OpenApiDocument } from "./openapi_document.ts";
import { checkNewPet } from "../../core/pets/new_pet.ts";
import { type Pet, petId } from "../../core/pets/pet.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { type Answer, ask, type OpenService } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { type Change, pointerTo, remove } from "./json_patch.ts";
import { lies } from "./openapi_lies.ts";
import {
  anyRequest,
  type Condition,
  type Generated,
  methodsOf,
  USED,
} from "./openapi_request.ts";
import { assertDeclared } from "./openapi_response.ts";
import { createJudge } from "./openapi_schema.ts";

const RUNS = 10_000;
const SLOW = { timeout: 120_000 }; // on a busy machine; Bun gives a test 5 seconds otherwise
const RUNS_TO_FIND_A_LIE = 6_000;
const PETS_AT_START = 30;
/** An animal that no storage reaches by counting: its id is the greatest int64. */
const LAST: Pet = {
  id: petId(INT64_MAX),
  name: "Zoë",
  categoryId: INT64_MIN,
  status: "sold",
};

test(
  "the OpenAPI document is true: no request, allowed or not, is answered otherwise",
  SLOW,
  async () => {
    const { sent, tally } = await holdAgainst(await served(), {
      numRuns: RUNS,
    });
    console.log(`${sent} generated requests: ${describe(tally)}`);
    assert.ok(sent >= 10_000);
  },
);

/** The document as a client gets it. */
async function served(): Promise<OpenApiDocument> {
  return JSON.parse((await ask(handleService(), "GET", "/openapi.json")).text);
}

/**
 * Sends requests generated from the document, and rejects where a response is not what it says, or
 * where a response that it declares never comes.
 *
 * @returns how many it sent, and how often each operation answered with each status. The answer to a
 * method that a path does not have counts for each operation that must declare it.
 */
async function holdAgainst(
  document: OpenApiDocument,
  parameters: fc.Parameters<[Generated]>,
): Promise<
  { readonly sent: number; readonly tally: ReadonlyMap<string, number> }
> {
  const judge = createJudge(document);
  const services = await openServices();
  const { headers } = await ask(services.sound, "GET", "/openapi.json");
  const tally = new Map<string, number>();
  let sent = 0;

  async function check(request: Generated): Promise<void> {
    sent++;
    const { method, address, question, path, operations } = request;
    const service = services[request.condition];
    const answer = await ask(service, method, address, question);
    assertExpected(request, answer, services.pets());
    const isHead = method === "HEAD";
    for (const operation of operations) {
      const name = `${operation.operationId} ${answer.status}`;
      tally.set(name, (tally.get(name) ?? 0) + 1);
      assertDeclared(answer, { document, operation, judge, isHead });
      if (name === "listPets 200" && !isHead) assertPage(request, answer);
    }
    if (path === undefined && !isHead) assertError(answer, "not_found");
    const allow = answer.headers.get("allow");
    if (allow !== null) {
      const item = document.paths[path ?? ""] ?? {};
      assert.equal(allow, methodsOf(item).join(", "), "not what is described");
    }
  }

  function assertPage({ address }: Generated, answer: Answer): void {
    const { searchParams } = new URL(address, "http://localhost");
    const limit = document.paths["/pets"]?.get?.parameters?.find(({ name }) =>
      name === "limit"
    );
    const most = Number(searchParams.get("limit") ?? limit?.schema.default);
    const { length } = JSON.parse(answer.text);
    // A page is full where there is a next one, and only then can it be.
    if (answer.headers.has("link")) assert.equal(length, most);
    else assert.ok(length <= most, `${length} animals, limit ${most}`);
  }

  await fc.assert(
    fc.asyncProperty(anyRequest(document, headers.get("etag") ?? ""), check),
    parameters,
  );
  assertAllOccurred(document, tally);
  return { sent, tally };
}

function assertExpected(
  request: Generated,
  answer: Answer,
  pets: bigint,
): void {
  const { expected, fault } = request;
  const told = `${fault || "nothing wrong"}: ${answer.status} ${answer.text}`;
  const status = isOfNoAnimal(request, pets) ? 404 : expected;
  if (status !== 2) return assert.equal(answer.status, status, told);
  assert.equal(Math.floor(answer.status / 100), 2, told);
}

/** Whether all is well with a request for an animal, but there is none with that id. */
function isOfNoAnimal(
  { operations, expected, address }: Generated,
  pets: bigint,
): boolean {
  if (operations[0]?.operationId !== "getPet") return false;
  const id = parseInt64(address.slice("/pets/".length)) ?? 0n;
  if (expected === 2) return !((id >= 1n && id <= pets) || id === LAST.id);
  // A storage that fails is not asked for what can be no id.
  return expected >= 500 && id < 1n;
}

/** Every response that is declared came at least once: the document declares nothing in vain. */
function assertAllOccurred(
  { paths }: OpenApiDocument,
  tally: ReadonlyMap<string, number>,
): void {
  const never = Object.values(paths).flatMap((item) => Object.values(item))
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`)
    ).filter((name) => !tally.has(name));
  assert.deepEqual(never, [], "declared, and never answered");
}

/** One service for each condition, with animals in the sound one. */
async function openServices(): Promise<
  Readonly<Record<Condition, OpenService>> & { readonly pets: () => bigint }
> {
  const storage = memoryStorage();
  let pets = 0n;
  let used: string | undefined;
  const counted: PetStorage = {
    ...storage,
    async create(newPet, options) {
      used ??= options?.idempotencyKey;
      // Generated keys are short, and would meet again.
      const isUsed = options?.idempotencyKey === used;
      const pet = await storage.create(newPet, isUsed ? options : {});
      if (pet.id > pets) pets = pet.id;
      return pet;
    },
    get: (id) => id === LAST.id ? Promise.resolve(LAST) : storage.get(id),
  };
  for (let i = 0; i < PETS_AT_START; i++) {
    await counted.create(checkNewPet({ name: "Rex", categoryId: 1n }));
  }
  const sound = handleService({ storage: counted });
  const { status } = await ask(sound, "POST", "/pets", {
    body: USED.body,
    headers: { "idempotency-key": USED.key },
  });
  assert.equal(status, 201);
  const failing = (error: () => Error): OpenService =>
    handleService({
      storage: {
        ...storage,
        create: () => Promise.reject(error()),
        get: () => Promise.reject(error()),
        list: () => Promise.reject(error()),
      },
      onError: () => {},
    });
  return {
    pets: () => pets,
    sound,
    slow: handleService({ storage: counted, bodyTimeout: 1 }),
    broken: failing(() => new Error("broken")),
    unavailable: failing(() => new StorageError("unavailable", "away")),
    unknown: failing(() => new StorageError("outcome_unknown", "who knows")),
  };
}

function describe(tally: ReadonlyMap<string, number>): string {
  return [...tally].sort().map(([name, some]) => `${name} ×${some}`).join(", ");
}

// ---- The document made false ----

for (const [lie, tell] of Object.entries(lies)) {
  test(
    `the laws of the OpenAPI document find the lie that ${lie}`,
    SLOW,
    async () => {
      await assertFound(tell, lie);
    },
  );
}

test(
  "the laws of the OpenAPI document find each path, operation, response and header that it leaves out",
  SLOW,
  async () => {
    for (const pointer of declarationsOf(await served())) {
      await assertFound(remove(pointer), pointer);
    }
  },
);

/** Where the document says what there is. */
function declarationsOf({ paths }: OpenApiDocument): readonly string[] {
  const found: string[] = [];
  for (const [path, item] of Object.entries(paths)) {
    found.push(pointerTo("paths", path));
    for (const [method, { responses }] of Object.entries(item)) {
      found.push(pointerTo("paths", path, method));
      for (const [status, { headers }] of Object.entries(responses)) {
        const response = pointerTo("paths", path, method, "responses", status);
        found.push(response);
        for (const name of Object.keys(headers)) {
          found.push(response + pointerTo("headers", name));
        }
      }
    }
  }
  return found;
}

async function assertFound(tell: Change, lie: string): Promise<void> {
  const document = await served();
  tell(document);
  await assert.rejects(
    holdAgainst(document, { numRuns: RUNS_TO_FIND_A_LIE, endOnFailure: true }),
    (error: Error) => {
      const found = error.cause ?? error;
      // Found by the law, and not because the lie broke the generator.
      assert.ok(found instanceof assert.AssertionError, String(found));
      return true;
    },
    lie,
  );
}
