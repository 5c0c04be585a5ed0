/** The operations of the client, on `handle` itself. */
import assert from "node:assert/strict";
import test from "node:test";
import { petToJson } from "../../../adapters/client/mod.ts";
import { INT64_MAX, INT64_MIN } from "../../../core/int64.ts";
import { operationsOf } from "../../../core/operations.ts";
import { BASE, inProcess, json, KEY, petJson, scripted } from "./scripted.ts";

const operations = operationsOf({ hasGetPet: true });

test("the client has a method for each operation that needs a key", () => {
  const names = operations.filter(({ isPublic }) => isPublic !== true)
    .map(({ id }) => id);
  const { client } = inProcess();
  for (const name of names) {
    const advice = `add ${name} to adapters/client/calls.ts and client.ts`;
    assert.equal(typeof Reflect.get(client, `${name}`), "function", advice);
  }
});

test("listPets and getPet send the exact digits", async () => {
  const { client, requests } = scripted(
    [json("[]"), json("[]"), json("[]"), json(petJson(INT64_MAX))],
  );
  await client.listPets();
  await client.listPets({ limit: 7, status: "sold", after: INT64_MIN });
  await client.listPets({ limit: 0, after: 0n }); // for the service to refuse
  const pet = await client.getPet(INT64_MAX);
  assert.equal(petToJson(pet), petJson(INT64_MAX)); // JSON.stringify throws
  assert.deepEqual(requests.map(({ method, url }) => `${method} ${url}`), [
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

test("a wrong argument rejects with a TypeError, and nothing is sent", async () => {
  const { client, requests } = scripted([]);
  const wrong = (value: unknown) => value as never;
  const bigint = 'must be a bigint, such as 7n or BigInt("7"), not';
  const create = (pet: unknown) => () => client.createPet(wrong(pet));
  const calls = {
    [`categoryId ${bigint} number`]: create({ name: "Rex", categoryId: 1 }),
    [`categoryId ${bigint} string`]: create({ name: "Rex", categoryId: "1" }),
    [`categoryId ${bigint} undefined`]: create({ name: "Rex" }),
    "name must be a string, not undefined": create({ categoryId: 1n }),
    [`id ${bigint} number`]: () => client.getPet(wrong(7)),
    [`id ${bigint} string`]: () => client.getPet(wrong("7")),
    [`after ${bigint} number`]: () =>
      Array.fromAsync(client.pets(wrong({ after: 7 }))),
    [`after ${bigint} string`]: () => client.listPets(wrong({ after: "7" })),
    "Unknown option statuss: listPets accepts limit, status, after": () =>
      client.listPets(wrong({ statuss: "sold" })),
    "listPets accepts an object with options: limit, status, after": () =>
      client.listPets(wrong(null)),
    "Unknown option key: each call accepts signal": () =>
      client.createPet({ name: "Rex", categoryId: 1n }, wrong({ key: "a" })),
  };
  for (const [message, call] of Object.entries(calls)) {
    await assert.rejects(call, { name: "TypeError", message }, message);
  }
  await assert.rejects(create(undefined), {
    name: "TypeError",
    message: `categoryId ${bigint} undefined`,
  });
  // At once, and not when the walk begins.
  assert.throws(() => client.pets(wrong(null)), {
    name: "TypeError",
    message: "pets accepts an object with options: limit, status, after",
  });
  assert.equal(requests.length, 0);
});
