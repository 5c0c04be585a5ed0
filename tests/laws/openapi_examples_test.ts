/** Law: the service answers as the examples of the OpenAPI document, and keeps to its limits. */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import {
  type Content,
  OPERATIONS,
  type Schema,
  SCHEMAS,
} from "./openapi_schema.ts";
import { parseJson } from "./any_body.ts";

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
    ], name);
    const { operationId, parameters } = created?.links?.getPet ??
      assert.fail("there is no link");
    assert.equal(operationId, "getPet", name);
    assert.deepEqual(parameters, { petId: "$response.body#/id" }, name);
    const { id } = pet as { readonly id: bigint };
    const address = getPet?.path.replace("{petId}", `${id}`) ?? "";
    assert.equal(headers.get("location"), address.slice(1), name);
    const answer = await ask(service, "GET", address);
    assert.deepEqual(parseJson(answer.text), big(got[name]?.value), name);
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
    assert.notEqual(successes.length, 0, operationId);
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
  const answer = await ask(handleService(), "POST", "/pets", { body });
  assert.equal(answer.status, 201);
  const pet = { ...exampleOf(Pet), id: 1, status: "available" };
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
