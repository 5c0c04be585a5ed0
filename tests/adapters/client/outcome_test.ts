/** A response that is not in the contract is an error with a code, a status and a short message. */
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import {
  failure,
  json,
  KEY,
  petJson,
  scripted,
  watchedBody,
} from "./scripted.ts";
import { REX } from "../../support/pets.ts";
import { fails } from "./fails.ts";

test("a Pet that is not what the contract says is invalid_response", async () => {
  const pet = petJson(7n);
  const wrong = [
    "null",
    "{}",
    "",
    "[".repeat(1_000_000),
    ...['"7"', '["7"]', '"\\"7"', "7.5", "0", "9223372036854775808"]
      .map((id) => pet.replace('"id":7', `"id":${id}`)),
    pet.replace('"id":7,', ""),
    pet.replace('"id":7', '"id":null'),
    pet.replace('"Rex"', "7"),
    ...['"1"', "1e19"]
      .map((id) => pet.replace('"categoryId":1', `"categoryId":${id}`)),
    pet.replace('"available"', "7"),
  ];
  for (const text of wrong) {
    const got = await fails("get", json(text), "invalid_response", 200);
    assert.match(got.message, /^Cannot get pet: /, text);
    assert.equal(got.uncertain, false, text);
    const answer = json(text, { status: 201 });
    const created = await fails("create", answer, "invalid_response", 201);
    assert.equal(created.uncertain, true, text);
    // An empty element is not JSON either.
    await fails("list", json(`[${pet},${text}]`), "invalid_response", 200);
  }
});

test("the message says what is wrong, and does not quote it", async () => {
  const stranger = `{"id":"${KEY}","name":"","categoryId":1}`;
  const cases = [
    [
      "list",
      `[${petJson(1n)},${stranger}]`,
      "1\\.id of the response must be an integer from ",
    ],
    ["list", "{}", "the body of the response must be an array$"],
    ["list", "[[]]", "0\\.id of the"],
    ["list", "[7,7]", "0 of the response must be an object$"],
    ["get", '{"id":0}', "id of the response must be positive$"],
    ["get", '{"id":7}', "name of the response is missing$"],
    ["get", '{"id":7,"name":7}', "name of the response must be a string$"],
    ["get", petJson(8n), "id of .* is not the one that was asked for$"],
  ] as const;
  for (const [call, text, message] of cases) {
    const error = await fails(call, json(text), "invalid_response", 200);
    assert.match(
      error.message,
      RegExp(`^Cannot (list|get) pets?: ${message}`),
      text,
    );
    assert.ok(!error.message.includes(KEY), text);
  }
});

test("members that the contract does not know are left out", async () => {
  const { client } = scripted([
    json(
      '{"id":1.0,"name":"","categoryId":10e1,"status":"sold","__proto__":{"x":1},"extra":1}',
    ),
  ]);
  assert.deepEqual(await client.getPet(1n), {
    id: 1n,
    name: "",
    categoryId: 100n,
    status: "sold",
  });
});

// Each class by its edges: 201 is not the status of a get, nor 200 that of a create.
const STATUSES = [
  ["get", [201, 206, 299], "invalid_response", "not in the contract"],
  ["create", [200, 202, 299], "invalid_response", "not in the contract"],
  ["get", [300, 399], "http_error", "a redirect"],
  ["create", [300, 599], "http_error", ""],
  ["get", [400, 599], "http_error", "but not from the service itself"],
] as const;
for (const [call, statuses, code, message] of STATUSES) {
  test(`a response of status ${statuses} to ${call} is ${code}`, async () => {
    for (const status of statuses) {
      const response = json(petJson(7n), { status });
      const error = await fails(call, response, code, status);
      assert.ok(error.message.includes(message), error.message);
      assert.equal(error.uncertain, call === "create", `${status}`);
    }
  });
}

test("a 304, for which nobody asked, is http_error and no redirect", async () => {
  const step = new Response(null, { status: 304 });
  const { message } = await fails("get", step, "http_error", 304);
  assert.match(message, /the answer is 304/);
});

test("a created pet that is not as sent is invalid_response, and may have been added", async () => {
  const rounded = { ...REX, categoryId: 2n ** 53n };
  const sent = { ...REX, categoryId: 2n ** 53n + 1n };
  const cases = [
    [sent, rounded],
    [REX, { ...REX, name: "Rex " }],
    [{ ...REX, status: "sold" }, { ...REX, status: "available" }],
  ] as const;
  for (const [pet, answered] of cases) {
    const body = JSON.stringify({ id: 7, ...answered, categoryId: 0 })
      .replace('"categoryId":0', `"categoryId":${answered.categoryId}`);
    const { client } = scripted([json(body, { status: 201 })]);
    const error = await failure(client.createPet(pet));
    assert.deepEqual(
      [error.code, error.uncertain],
      ["invalid_response", true],
      inspect(pet),
    );
    assert.match(error.message, /is not the one that was sent$/, inspect(pet));
  }
  const { client } = scripted([
    json(petJson(7n, REX.name).replace("available", "sold"), { status: 201 }),
  ]);
  const { name, categoryId } = REX;
  assert.equal((await client.createPet({ name, categoryId })).status, "sold");
});

test("a body in more than 4096 pieces, of less than 64 bytes on average, is cut off", async () => {
  const piece = (length: number) => " ".repeat(length);
  for (const [length, isRead] of [[63, false], [65, true]] as const) {
    const pieces = [petJson(7n), ...Array(5000).fill(piece(length))];
    const watched = watchedBody(pieces);
    const response = new Response(watched.body);
    if (isRead) {
      const { client } = scripted([response]);
      assert.equal((await client.getPet(7n)).id, 7n, `${length}`);
    } else {
      await fails("get", response, "invalid_response", 200);
      assert.equal(watched.fate, "cancelled", `${length}`);
    }
  }
});

test("a name whose bytes arrive in two halves comes through whole", async () => {
  const bytes = new TextEncoder().encode(petJson(1n, "🐕"));
  const cut = bytes.indexOf(0xf0) + 2;
  const body = ReadableStream.from([bytes.slice(0, cut), bytes.slice(cut)]);
  const { client } = scripted([new Response(body)]);
  assert.equal((await client.getPet(1n)).name, "🐕");
});

test("a body may have 1 MiB, and one without end is not read to its end", async () => {
  const most = petJson(7n).padEnd(1024 * 1024);
  const { client } = scripted([json(most)]);
  assert.equal((await client.getPet(7n)).id, 7n);
  const longer = new Response(watchedBody([most, " "]).body);
  const { message } = await fails("get", longer, "invalid_response", 200);
  const limit =
    "JSON in UTF-8 of at most 1048576 bytes, or its chunks are tiny";
  assert.equal(message, `Cannot get pet: the response is not ${limit}`);

  const chunk = " ".repeat(1024 * 1024);
  const codes = { 200: "invalid_response", 400: "http_error" };
  for (const [key, code] of Object.entries(codes)) {
    const status = Number(key);
    const watched = watchedBody(Array(100).fill(chunk));
    const response = new Response(watched.body, { status });
    await fails("get", response, code, status);
    assert.equal(watched.fate, "cancelled", key);
  }
});
