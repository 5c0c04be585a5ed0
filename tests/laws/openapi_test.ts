/**
 * Law: the OpenAPI document is true. What it allows is accepted, what it forbids is refused, every
 * response is declared, and every declared response comes.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../core/pets/int64.ts";
import { checkNewPet } from "../../core/pets/new_pet.ts";
import { type Pet, petId } from "../../core/pets/pet.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { type Answer, ask, type OpenService } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, patience, runs } from "../support/property.ts";
import type { OpenApiDocument } from "./openapi_document.ts";
import {
  anyRequest,
  type Condition,
  type Generated,
  methodsOf,
  USED,
} from "./openapi_request.ts";
import { assertDeclared } from "./openapi_response.ts";
import { createJudge } from "./openapi_schema.ts";

/** After so many requests every response has come at least once. */
const RUNS_FOR_ALL = 2000;
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
  {
    timeout: patience(RUNS_FOR_ALL),
  },
  async () => {
    const services = await openServices();
    const { headers, text } = await ask(
      services.sound,
      "GET",
      "/openapi.json",
    );
    const document: OpenApiDocument = JSON.parse(text);
    const judge = createJudge(document);
    // The answer to a method that a path does not have counts for each operation that must declare it.
    const occurred = new Set<string>();
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
        occurred.add(name);
        assertDeclared(answer, { document, operation, judge, isHead });
        if (name === "listPets 200" && !isHead) assertPage(request, answer);
      }
      if (path === undefined && !isHead) assertError(answer, "not_found");
      const allow = answer.headers.get("allow");
      if (allow !== null) {
        const item = document.paths[path ?? ""] ?? {};
        assert.equal(
          allow,
          methodsOf(item).join(", "),
          "not what is described",
        );
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
      runs(RUNS_FOR_ALL),
    );
    if (sent >= RUNS_FOR_ALL) assertAllOccurred(document, occurred);
  },
);

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
  occurred: ReadonlySet<string>,
): void {
  const never = Object.values(paths).flatMap((item) => Object.values(item))
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`)
    ).filter((name) => !occurred.has(name));
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
    limited: handleService({
      storage: counted,
      rateLimit: () =>
        Promise.resolve({
          "retry-after": "5",
          "ratelimit-policy": '"default";q=100;w=10',
          "ratelimit": '"default";r=0;t=5',
        }),
    }),
    slow: handleService({ storage: counted, bodyTimeout: 1 }),
    broken: failing(() => new Error("broken")),
    unavailable: failing(() => new StorageError("unavailable", "away")),
    unknown: failing(() => new StorageError("outcome_unknown", "who knows")),
  };
}
