/** A response that is not in the contract is an error with a code, a status and a short message. */
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import type { Client, PetStoreError } from "../../../adapters/client/mod.ts";
import { ERROR_STATUS } from "../../../core/answer.ts";
import {
  BASE,
  failure,
  json,
  KEY,
  page,
  petJson,
  refusal,
  scripted,
  type Step,
  watchedBody,
} from "./scripted.ts";
import { fc } from "../../support/property.ts";
import { REX } from "../../support/pets.ts";

const CALLS = {
  get: (client: Client) => client.getPet(7n),
  list: (client: Client) => client.listPets(),
  create: (client: Client) => client.createPet(REX),
} as const;

/**
 * Makes a call that gets one response, and returns its error, which must have this code and status.
 */
async function fails(
  call: keyof typeof CALLS,
  step: Step,
  code: string,
  status?: number,
): Promise<PetStoreError> {
  const { client } = scripted([step], { retries: 0 });
  const error = await failure(CALLS[call](client));
  assert.deepEqual([error.code, error.status], [code, status]);
  return error;
}

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
const cases = [
  ["get", [201, 206, 299], "invalid_response", "not in the contract"],
  ["create", [200, 202, 299], "invalid_response", "not in the contract"],
  ["get", [300, 399], "http_error", "a redirect"],
  ["create", [300, 599], "http_error", ""],
  ["get", [400, 599], "http_error", "but not from the service itself"],
] as const;
for (const [call, statuses, code, message] of cases) {
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

test("each code of the service arrives as it is, and below 500 is certain", async () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    const step = () => refusal(code, status, {}, "Why");
    const read = await fails("list", step, code, status);
    assert.deepEqual([read.message, read.uncertain], ["Why", false], code);
    const created = await fails("create", step, code, status);
    assert.equal(created.uncertain, status >= 500, code);
  }
});

test("a code that is unknown arrives as it is, and proves nothing of a create", async () => {
  for (const code of ["teapot", "constructor"]) {
    const error = await fails("create", refusal(code, 418), code, 418);
    assert.deepEqual([error.message, error.uncertain], ["No", true], code);
  }
});

test("an error page of a proxy is http_error with its status, and not quoted", async () => {
  for (const status of [400, 401, 404, 413, 429, 500, 502, 503, 504]) {
    const error = await fails("list", page(status), "http_error", status);
    assert.match(
      error.message,
      RegExp(`^Cannot list pets: .*${status}`),
      `${status}`,
    );
    assert.ok(error.message.length < 100, `${status}`);
    assert.doesNotMatch(inspect(error), /sorry/, `${status}`);
  }
});

test("JSON that only resembles an Error of the service is http_error", async () => {
  const wrong = [
    { status: 400 },
    { status: "404" },
    { code: "bad_request" },
    { code: "Not Found" },
    { code: "teapot", status: 418 },
    { message: 7 },
    { message: undefined },
  ].map((part) => ({ code: "not_found", message: "No", status: 404, ...part }));
  for (const body of [...wrong, null]) {
    const text = JSON.stringify(body);
    await fails("get", json(text, { status: 404 }), "http_error", 404);
  }
  await fails("get", refusal("teapot", 399), "http_error", 399);
});

test("a redirect that a browser hides is http_error without a status", async () => {
  // Such a Response cannot be made by hand, so an object with the parts that are read replaces it.
  const opaque = { status: 0, headers: new Headers(), body: null, url: "" };
  const step = () => opaque as Response;
  const { message } = await fails("list", step, "http_error");
  assert.match(message, /redirect/);
});

test("the request id is on the error", async () => {
  const headers = { "x-request-id": "7f3a" };
  const broken = watchedBody(["[", " "], "fails").body;
  const cases = [
    [refusal("not_found", 404, headers), "not_found", 404],
    [page(500, headers), "http_error", 500],
    [json("{}", { headers }), "invalid_response", 200],
    [new Response(broken, { headers }), "network_error", 200],
  ] as const;
  for (const [response, code, status] of cases) {
    const { requestId } = await fails("list", response, code, status);
    assert.equal(requestId, "7f3a", code);
  }
  const none = await fails("get", refusal("not_found", 404), "not_found", 404);
  assert.equal(none.requestId, undefined);
});

test("a request without a response is network_error, with cause and reason", async () => {
  const reasons = new AggregateError(["a", "b"].map((why) => Error(why)));
  const endless = new Error("its own cause");
  endless.cause = endless;
  const cases = [
    [new RangeError("at once"), "at once"],
    ["no route", "no route"],
    [endless, "its own cause"],
    [new TypeError("fetch failed", { cause: reasons }), "a"],
    [new TypeError(`proxy refuses Bearer ${KEY}`), "proxy refuses Bearer …"],
    // As Deno puts it.
    [new TypeError(`error sending request for url (${BASE}): why`), "why"],
  ] as const;
  for (const [cause, reason] of cases) {
    const throws = () => {
      throw cause;
    };
    for (const step of [throws, () => Promise.reject(cause)]) {
      const read = await fails("list", step, "network_error");
      const told = `no response from http://localhost (${reason})`;
      assert.equal(read.message, `Cannot list pets: ${told}`, reason);
      assert.equal(read.cause, cause, reason);
      assert.equal(read.uncertain, false, reason);
      const created = await fails("create", step, "network_error");
      assert.equal(created.message, `Cannot create pet: ${told}`, reason);
      assert.equal(created.uncertain, true, reason);
    }
  }
});

test("a response that breaks off is network_error with its status", async () => {
  const body = watchedBody(["[", " "], "fails").body;
  const error = await fails("list", new Response(body), "network_error", 200);
  assert.match(error.message, /the response broke off/);
  assert.ok(error.cause instanceof TypeError);
});

test("a long or many-lined message is taken over short and on one line", async () => {
  const { client } = scripted([
    refusal("not_found", 404, {}, `\u001b[31m${"no\n".repeat(100_000)}`),
  ]);
  const { message } = await failure(client.getPet(1n));
  assert.equal(message.length, 1000);
  assert.match(message, /^ \[31mno no no/);
  assert.doesNotMatch(message, /\p{Cc}/u);
});

// Whatever a server, a proxy or the network says: it may echo the key in every part of a response.
test("the key is in no error, nor in what is shown of it or of the client", async () => {
  const part = fc.constantFrom(
    `x${KEY}${KEY}y`,
    `${KEY.slice(0, 8)}${KEY}${KEY.slice(8)}`,
    [...KEY].join("\n"),
    "x",
  );
  const response = fc.record({
    code: fc.oneof(part, fc.constantFrom(...Object.keys(ERROR_STATUS))),
    message: part,
    status: fc.constantFrom(200, 201, 302, 400, 404, 500, 502, 503),
    isError: fc.boolean(),
    id: part,
    link: part,
  });
  await fc.assert(fc.asyncProperty(response, async (r) => {
    const id = r.id.replaceAll("\n", " ");
    const link = `<http://${r.link.replaceAll("\n", " ")}/>; rel="next"`;
    const step = () =>
      json(
        r.isError
          ? JSON.stringify(r)
          : `[${petJson(1n, r.message)}, ${r.message}`,
        { status: r.status, headers: { "x-request-id": id, link } },
      );
    const { client } = scripted([step, step, step, step], { retries: 0 });
    for (const call of Object.values(CALLS)) {
      const error = await failure(call(client));
      const shown = [
        String(error),
        error.stack,
        inspect(error, { depth: 9, showHidden: true }),
        JSON.stringify(error),
      ];
      for (const text of shown) assert.ok(!text?.includes(KEY), `${text}`);
    }
    const shown = inspect(client, { depth: 9, showHidden: true });
    assert.match(shown, /listPets/);
    assert.ok(!shown.includes(KEY) && !JSON.stringify(client).includes(KEY));
  }));
});
