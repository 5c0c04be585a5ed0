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
import { memoryStorage } from "../../adapters/storage/memory.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../core/int64.ts";
import type {
  OpenApiDocument,
  OperationDescription,
} from "../../core/openapi_document.ts";
import { type Pet, petId } from "../../core/pet.ts";
import { type PetStorage, StorageError } from "../../core/pet_storage.ts";
import { type Answer, ask, type OpenService } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import {
  anyRequest,
  type Condition,
  type Generated,
} from "./openapi_request.ts";
import { assertDeclared } from "./openapi_response.ts";
import { createJudge } from "./openapi_schema.ts";

const RUNS = 10_000;
const SLOW = { timeout: 120_000 }; // on a busy machine; Bun gives a test 5 seconds otherwise
const RUNS_TO_FIND_A_LIE = 4_000;
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
    const tally = await holdAgainst(await served(), {
      numRuns: RUNS,
    });
    const count = [...tally.values()].reduce((sum, some) => sum + some, 0);
    console.log(`${count} generated requests: ${describe(tally)}`);
    assert.ok(count >= 10_000);
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
 * @returns how often each operation answered with each status.
 */
async function holdAgainst(
  document: OpenApiDocument,
  parameters: fc.Parameters<[Generated]>,
): Promise<ReadonlyMap<string, number>> {
  const judge = createJudge(document);
  const services = await openServices();
  const tally = new Map<string, number>();

  async function check(request: Generated): Promise<void> {
    const { method, address, question, operationId } = request;
    const answer = await ask(
      services[request.condition],
      method,
      address,
      question,
    );
    const name = `${operationId ?? "none"} ${answer.status}`;
    tally.set(name, (tally.get(name) ?? 0) + 1);
    assertExpected(request, answer, services.pets());
    const operation = operationsOf(document).find((each) =>
      each.operationId === operationId
    );
    if (operation !== undefined) {
      const isHead = method === "HEAD";
      assertDeclared(answer, { document, operation, judge, isHead });
      if (name === "listPets 200" && !isHead) assertPage(request, answer);
    } else if (answer.status === 204) {
      assert.equal(answer.text, "");
    } else if (method !== "HEAD") {
      assertError(
        answer,
        answer.status === 405 ? "method_not_allowed" : "not_found",
      );
    }
    if (answer.status === 405 || answer.status === 204) {
      assert.equal(answer.headers.get("allow"), allowed(address));
    }
  }

  // `Allow` has the methods that the document has, and those that HTTP adds to them.
  function allowed(address: string): string | undefined {
    const [, item] =
      Object.entries(document.paths).find(([path]) =>
        path.replace("{petId}", "1") === address
      ) ?? [];
    return item &&
      Object.keys(item).flatMap((method) =>
        method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]
      ).concat("OPTIONS").join(", ");
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
    fc.asyncProperty(anyRequest(document), check),
    parameters,
  );
  assertAllOccurred(document, tally);
  return tally;
}

function assertExpected(
  { expected, operationId, address, fault }: Generated,
  answer: Answer,
  pets: bigint,
): void {
  const told = `${fault || "nothing wrong"}: ${answer.status} ${answer.text}`;
  if (expected !== 2) return assert.equal(answer.status, expected, told);
  if (operationId !== "getPet") {
    return assert.equal(Math.floor(answer.status / 100), 2, told);
  }
  const id = parseInt64(address.slice("/pets/".length)) ?? 0n;
  const exists = (id >= 1n && id <= pets) || id === LAST.id;
  assert.equal(answer.status, exists ? 200 : 404, told);
}

/** Every response that is declared came at least once: the document declares nothing in vain. */
function assertAllOccurred(
  document: OpenApiDocument,
  tally: ReadonlyMap<string, number>,
): void {
  const never = operationsOf(document).flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`)
  ).filter((name) => !tally.has(name));
  assert.deepEqual(never, [], "declared, and never answered");
}

function operationsOf(
  { paths }: OpenApiDocument,
): readonly OperationDescription[] {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

/** One service for each condition, with animals in the sound one. */
async function openServices(): Promise<
  Readonly<Record<Condition, OpenService>> & { readonly pets: () => bigint }
> {
  const storage = memoryStorage();
  let pets = 0n;
  const counted: PetStorage = {
    ...storage,
    async create(newPet) {
      const pet = await storage.create(newPet);
      pets = pet.id;
      return pet;
    },
    get: (id) => id === LAST.id ? Promise.resolve(LAST) : storage.get(id),
  };
  for (let i = 0; i < PETS_AT_START; i++) {
    await counted.create({ name: "Rex", categoryId: 1n, status: "available" });
  }
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
    sound: handleService({ storage: counted }),
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

/** Changes to the document as JSON, by what they make it say. */
const lies: Readonly<Record<string, (text: Json) => void>> = {
  "limit has the maximum 99": ({ limit }) => limit.schema.maximum = 99,
  "limit has the maximum 101": ({ limit }) => limit.schema.maximum = 101,
  "limit has the minimum 0": ({ limit }) => limit.schema.minimum = 0,
  "limit has the minimum 2": ({ limit }) => limit.schema.minimum = 2,
  "limit has the default 19": ({ limit }) => limit.schema.default = 19,
  "limit has the default 21": ({ limit }) => limit.schema.default = 21,
  "limit has no maximum": ({ limit }) => delete limit.schema.maximum,
  "after is an int32": ({ after }) => after.schema.format = "int32",
  "after is an integer of any size": ({ after }) => delete after.schema.format,
  "after is required": ({ after }) => after.required = true,
  "petId is an int32": ({ petId }) => petId.schema.format = "int32",
  "status lacks sold": ({ schemas }) => schemas.PetStatus.enum.pop(),
  "status has lost": ({ schemas }) => schemas.PetStatus.enum.push("lost"),
  "a name has at most 254 characters": ({ newPet }) =>
    newPet.name.maxLength = 254,
  "a name has at most 256 characters": ({ newPet }) =>
    newPet.name.maxLength = 256,
  "a name has 0 characters or more": ({ newPet }) => newPet.name.minLength = 0,
  "a name has 2 characters or more": ({ newPet }) => newPet.name.minLength = 2,
  "a name may have any character": ({ newPet }) => delete newPet.name.pattern,
  "a name may have DEL": ({ newPet }) =>
    newPet.name.pattern = "^[^\\x00-\\x1f]+$",
  "a name may have no C1 control": ({ newPet }) =>
    newPet.name.pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]+$",
  "categoryId is an int32": ({ newPet }) => newPet.categoryId.format = "int32",
  "categoryId is an integer of any size": ({ newPet }) =>
    delete newPet.categoryId.format,
  "categoryId is at least 0": ({ newPet }) => newPet.categoryId.minimum = 0,
  "categoryId is a string": ({ newPet }) =>
    newPet.categoryId = { type: "string", maxLength: 20 },
  "categoryId is not required": ({ schemas }) => schemas.NewPet.required.pop(),
  "status is required": ({ schemas }) => schemas.NewPet.required.push("status"),
  "an id is at least 2": ({ schemas }) => schemas.Pet.properties.id.minimum = 2,
  "a Pet has an age": ({ schemas }) => schemas.Pet.required.push("age"),
  "a page has at most 99 animals": ({ schemas }) => schemas.Pets.maxItems = 99,
  "an error code is missing": ({ schemas }) =>
    schemas.Error.properties.code.enum = schemas.Error.properties.code.enum
      .filter((code: string) => code !== "unsupported_media_type"),
  "an Error has a cause": ({ schemas }) => schemas.Error.required.push("cause"),
  "Location is undeclared": ({ createPet }) =>
    delete createPet.responses["201"].headers.Location,
  "Link is undeclared": ({ listPets }) =>
    delete listPets.responses["200"].headers.Link,
  "Retry-After is undeclared": ({ listPets }) =>
    delete listPets.responses["503"].headers["Retry-After"],
  "Sunset is undeclared on an error": ({ getPet }) =>
    delete getPet.responses["404"].headers.Sunset,
  "Cache-Control is undeclared": ({ getPet }) =>
    delete getPet.responses["500"].headers["Cache-Control"],
  "a 200 has a Location": ({ listPets, createPet }) =>
    listPets.responses["200"].headers.Location =
      createPet.responses["201"].headers.Location,
  "Link is always there": ({ headers }) => headers["Next-Link"].required = true,
  "Retry-After is always there": ({ headers }) =>
    headers["Retry-After"].required = true,
  "Sunset is another day": ({ headers }) =>
    headers.Sunset.schema.const = "Fri, 06 Dec 2030 00:00:00 GMT",
  "a challenge has no error": ({ headers }) =>
    headers["WWW-Authenticate"].schema.enum.pop(),
  "Retry-After is 2 or more": ({ headers }) =>
    headers["Retry-After"].schema.minimum = 2,
  "an error is text/plain": ({ listPets }) =>
    listPets.responses["400"].content = {
      "text/plain": listPets.responses["400"].content["application/json"],
    },
  "a 201 is a page": ({ createPet, listPets }) =>
    createPet.responses["201"].content = listPets.responses["200"].content,
  "getPet can be 410": ({ getPet }) =>
    getPet.responses["410"] = getPet.responses["404"],
  "pets are put": ({ paths }) => {
    paths["/pets"].put = paths["/pets"].post;
    delete paths["/pets"].post;
  },
  "pets can be deleted": ({ paths }) =>
    paths["/pets/{petId}"].delete = paths["/pets/{petId}"].get,
  "pets are animals": ({ paths }) => {
    paths["/animals"] = paths["/pets"];
    delete paths["/pets"];
  },
};

/** The parts of the document that lies are told about; JSON, so that anything can be written. */
interface Json {
  // deno-lint-ignore no-explicit-any -- a lie is not bound by types
  readonly [part: string]: any;
}

for (const [lie, tell] of Object.entries(lies)) {
  test(
    `the laws of the OpenAPI document find the lie that ${lie}`,
    SLOW,
    async () => {
      await assertFound(tell);
    },
  );
}

test(
  "the laws of the OpenAPI document find each response that it leaves out",
  SLOW,
  async () => {
    for (const { operationId, responses } of operationsOf(await served())) {
      for (const status of Object.keys(responses)) {
        await assertFound((parts) =>
          delete parts[operationId].responses[status]
        );
      }
    }
  },
);

async function assertFound(tell: (parts: Json) => unknown): Promise<void> {
  const document = await served();
  const { paths, components }: Json = document;
  const operations: readonly Json[] = operationsOf(document);
  tell({
    paths,
    schemas: components.schemas,
    headers: components.headers,
    newPet: components.schemas.NewPet.properties,
    ...Object.fromEntries(
      operations.map((operation) => [operation.operationId, operation]),
    ),
    ...Object.fromEntries(
      operations.flatMap(({ parameters = [] }) => parameters)
        .map((parameter: Json) => [parameter.name, parameter]),
    ),
  });
  await assert.rejects(
    holdAgainst(document, { numRuns: RUNS_TO_FIND_A_LIE, endOnFailure: true }),
    (error: Error) => {
      const found = error.cause ?? error;
      if (process.env.SHOW) {
        console.log(
          String((found as Error).message).replaceAll("\n", " ").slice(0, 200),
        );
      }
      // Found by the law, and not because the lie broke the generator.
      assert.ok(found instanceof assert.AssertionError, String(found));
      return true;
    },
  );
}
