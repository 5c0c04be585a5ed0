/**
 * Law: the OpenAPI document is true. What it allows is accepted, what it forbids is refused, and nothing
 * is answered that it does not declare.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../core/json.ts";
import { checkNewPet } from "../../core/pets/new_pet.ts";
import { type Pet, petId } from "../../core/pets/pet.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { type Answer, ask, type OpenService } from "../contract/ask.ts";
import { assertAnyError, STATUS_OF } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, patience, runs } from "../support/property.ts";
import { DOCUMENT } from "./openapi_document.ts";
import {
  anyRequest,
  type Condition,
  type Generated,
  methodsOf,
  USED,
} from "./openapi_request.ts";
import { assertDeclared } from "./openapi_schema.ts";
import { storageThat } from "../support/storage_that.ts";

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
  "the OpenAPI document is true: every request, allowed or not, is answered as it says",
  { timeout: patience(RUNS_FOR_ALL) },
  async () => {
    const services = await openServices();
    const { headers } = await ask(services.sound, "GET", "/openapi.json");
    const occurred = new Set<string>();
    const { numRuns } = runs(RUNS_FOR_ALL);
    await fc.assert(
      fc.asyncProperty(
        anyRequest(headers.get("etag") ?? ""),
        (request) => check(request, services, occurred),
      ),
      { numRuns },
    );
    if (numRuns >= RUNS_FOR_ALL) assertAllOccurred(occurred);
  },
);

/** Sends a request, and notes what occurred. */
async function check(
  request: Generated,
  services: Services,
  occurred: Set<string>,
): Promise<void> {
  const { method, address, question, path, operation } = request;
  const service = services[request.condition];
  const answer = await ask(service, method, address, question);
  const { status } = answer;
  assertExpected(request, answer, services.pets());
  const isHead = method === "HEAD";
  if (operation === undefined) {
    if (status === 204) assert.equal(answer.text, "");
    else if (!isHead) assertAnyError(answer);
    const isOfPath = status === 204 || status === 405;
    const allow = methodsOf(DOCUMENT.paths[path ?? ""] ?? {}).join(", ");
    assert.equal(answer.headers.get("allow"), isOfPath ? allow : null);
    return;
  }
  const { operationId } = operation;
  assertDeclared(answer, { operation, isHead });
  occurred.add(`${operationId} ${status}`);
  const place = status in operation.responses ? status : "default";
  for (const name of answer.headers.keys()) {
    occurred.add(`${operationId} ${place} ${name}`);
  }
  if (operationId === "listPets" && status === 200 && !isHead) {
    assertPage(request, answer);
  }
}

function assertPage({ address }: Generated, answer: Answer): void {
  const { searchParams } = new URL(address, "http://localhost");
  const limit = DOCUMENT.paths["/pets"]?.get?.parameters?.find(({ name }) =>
    name === "limit"
  );
  const most = Number(searchParams.get("limit") ?? limit?.schema.default);
  const { length } = JSON.parse(answer.text);
  // A page is full where there is a next one, and only then can it be.
  if (answer.headers.has("link")) assert.equal(length, most);
  else assert.ok(length <= most, `${length} animals, limit ${most}`);
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
  { operation, expected, address }: Generated,
  pets: bigint,
): boolean {
  if (operation?.operationId !== "getPet") return false;
  const id = parseInt64(address.slice("/pets/".length)) ?? 0n;
  if (expected === 2) return !((id >= 1n && id <= pets) || id === LAST.id);
  // A storage that fails is not asked for what can be no id.
  return expected >= 500 && id < 1n;
}

/** An error that nothing sent from outside can cause: the document is kept in memory. */
const UNSEEN = "getOpenApi 500";

/** Every other error, status and header field came at least once: nothing is declared in vain. */
function assertAllOccurred(occurred: ReadonlySet<string>): void {
  const never = Object.values(DOCUMENT.paths).flatMap((item) =>
    Object.values(item)
  )
    .flatMap((
      { operationId, errors, responses: { default: others, ...rest } },
    ) =>
      [
        ...errors.map((code) => STATUS_OF[code]),
        ...Object.keys(rest),
        ...others?.description.match(/\d{3}/g) ?? [],
        ...Object.entries({ ...rest, default: others }).flatMap((
          [status, response],
        ) =>
          Object.keys(response?.headers ?? {}).map((name) =>
            `${status} ${name.toLowerCase()}`
          )
        ),
      ].map((what) => `${operationId} ${what}`)
    ).filter((name) => name !== UNSEEN && !occurred.has(name));
  assert.deepEqual(never, [], "declared, and never answered");
}

type Services = Readonly<Record<Condition, OpenService>> & {
  /** The greatest id that was given. */
  readonly pets: () => bigint;
};

/** Opens one service for each condition, with animals in the sound one. */
async function openServices(): Promise<Services> {
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
      storage: storageThat(() => Promise.reject(error())),
      onError: () => {},
    });
  return {
    pets: () => pets,
    sound,
    limited: handleService({
      storage: counted,
      rateLimit: () =>
        Promise.resolve({
          allowed: false,
          headers: {
            "retry-after": "5",
            "ratelimit-policy": '"key";q=100;w=10',
            "ratelimit": '"key";r=0;t=5',
          },
        }),
    }),
    slow: handleService({ storage: counted, bodyTimeout: 1 }),
    broken: failing(() => new Error("broken")),
    unavailable: failing(() => new StorageError("unavailable", "away")),
    unknown: failing(() => new StorageError("outcome_unknown", "who knows")),
  };
}
