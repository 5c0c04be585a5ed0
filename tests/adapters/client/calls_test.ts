/** The operations of the client, on `handle` itself. */
import assert from "node:assert/strict";
import test from "node:test";
import { type NewPet, petToJson } from "../../../adapters/client/mod.ts";
import { INT64_MAX, INT64_MIN } from "../../../core/json.ts";
import { PET_STATUSES } from "../../../core/pets/pet.ts";
import { operations } from "../../../core/operations/operations.ts";
import { BASE, inProcess, KEY } from "./in_process.ts";
import { collect, json, petJson, scripted } from "./scripted.ts";
import { fc } from "../../support/property.ts";

const int64 = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.constantFrom(INT64_MIN, INT64_MAX, 0n, 2n ** 53n + 1n, -(2n ** 53n) - 1n),
);
// Any code points but U+0000 to U+001F and U+007F.
const name = fc.string({ unit: "binary", minLength: 1, maxLength: 255 })
  .filter((text) => !/[^\P{Cc}\u0080-\u009f]/u.test(text));
const newPet: fc.Arbitrary<NewPet> = fc.record({
  name,
  categoryId: int64,
  status: fc.constantFrom(...PET_STATUSES),
}, { requiredKeys: ["name", "categoryId"] });

// What goes in comes out: through the client's writer, the service's reader and writer, and the
// client's reader.
test("any pet comes back from createPet, getPet and listPets as it was sent", async () => {
  const { client } = inProcess();
  let last = 0n;
  await fc.assert(fc.asyncProperty(newPet, async (sent) => {
    const created = await client.createPet(sent);
    assert.deepEqual(created, { status: "available", ...sent, id: created.id });
    assert.ok(created.id > last);
    assert.deepEqual(await client.getPet(created.id), created);
    const page = await client.listPets({ after: last });
    assert.deepEqual(page, { pets: [created] });
    last = created.id;
  }));
});

test("the client has a method for each operation that needs a key", () => {
  const names = operations.filter(({ isPublic }) => isPublic !== true)
    .map(({ description }) => description["operationId"]);
  const { client } = inProcess();
  assert.deepEqual(
    names.filter((name) =>
      typeof Reflect.get(client, `${name}`) !== "function"
    ),
    [],
  );
});

test("petToJson writes a pet of the client exactly, if JSON.stringify throws", async () => {
  const { client } = inProcess();
  const pet = await client.createPet({ name: "Rex", categoryId: INT64_MIN });
  assert.throws(() => JSON.stringify(pet), TypeError);
  assert.equal(
    petToJson(pet),
    `{"id":1,"name":"Rex","categoryId":${INT64_MIN},"status":"available"}`,
  );
});

test("listPets and getPet send the exact digits", async () => {
  const { client, requests } = scripted([
    json("[]"),
    json("[]"),
    json("[]"),
    json("[]"),
    json(petJson(INT64_MAX)),
  ]);
  await client.listPets();
  await client.listPets({});
  await client.listPets({ limit: 7, status: "sold", after: INT64_MIN });
  await client.listPets({ limit: 0, after: 0n }); // for the service to refuse
  const pet = await client.getPet(INT64_MAX);
  assert.equal(pet.id, INT64_MAX);
  assert.deepEqual(requests.map(({ method, url }) => `${method} ${url}`), [
    `GET ${BASE}/pets`,
    `GET ${BASE}/pets`,
    `GET ${BASE}/pets?limit=7&status=sold&after=${INT64_MIN}`,
    `GET ${BASE}/pets?limit=0&after=0`,
    `GET ${BASE}/pets/${INT64_MAX}`,
  ]);
  for (const { headers, redirect } of requests) {
    assert.equal(headers.get("accept"), "application/json");
    assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
    assert.equal(redirect, "manual");
  }
});

test("listPets takes no address at another origin", async () => {
  const { client, requests } = scripted([]);
  for (
    const address of [
      "http://elsewhere/v1/pets",
      "https://localhost/v1/pets",
      "http://localhost:81/v1/pets",
      "http://user@localhost/v1/pets",
      "/v1/pets",
      "",
      KEY,
    ]
  ) {
    await assert.rejects(client.listPets(address), (error) => {
      assert.ok(error instanceof TypeError);
      assert.ok(!error.message.includes(KEY));
      return true;
    }, address);
  }
  assert.equal(requests.length, 0);
});

test("a wrong argument rejects with a TypeError, and nothing is sent", async () => {
  const { client, requests } = scripted([]);
  const wrong = (value: unknown) => value as never;
  const calls = [
    () => client.createPet(wrong({ name: "Rex", categoryId: 1 })),
    () => client.createPet(wrong({ name: "Rex", categoryId: "1" })),
    () => client.createPet(wrong({ name: "Rex" })),
    () => client.createPet(wrong({ categoryId: 1n })),
    () => client.createPet(wrong(undefined)),
    () => client.getPet(wrong(7)),
    () => client.getPet(wrong("7")),
    () => client.listPets(wrong({ after: 7 })),
    () => collect(client.pets(wrong({ after: 7 }))),
  ];
  for (const call of calls) await assert.rejects(call(), TypeError);
  assert.equal(requests.length, 0);
});
