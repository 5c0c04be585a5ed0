/** A response that is not in the contract is an error with a code, a status and a short message. */
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { ERROR_STATUS } from "../../../core/http/refusal.ts";
import { BASE, KEY } from "./in_process.ts";
import {
  collect,
  failure,
  json,
  noConnection,
  page,
  petJson,
  refusal,
  REX,
  scripted,
  watchedBody,
} from "./scripted.ts";
import { fc } from "../../support/property.ts";

test("a Pet that is not what the contract says is invalid_response", async () => {
  const pet = '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}';
  const wrong = [
    ...["null", "{}", "", pet.slice(0, -1), `${pet}]`, "[".repeat(1_000_000)],
    ...['"1"', "1.5", "0", "9223372036854775808"]
      .map((id) => pet.replace('"id":1', `"id":${id}`)),
    pet.replace('"id":1,', ""),
    pet.replace('"Rex"', "7"),
    ...['"1"', "1e19"]
      .map((id) => pet.replace('"categoryId":1', `"categoryId":${id}`)),
    pet.replace("sold", "Sold"),
  ];
  for (const text of wrong) {
    const { client } = scripted([
      json(text),
      json(text, { status: 201 }),
      json(`[${petJson(1n)},${text}]`),
    ]);
    const shown = text.slice(0, 80);
    const got = await failure(client.getPet(1n));
    const created = await failure(client.createPet(REX));
    // An empty element is no JSON either.
    const listed = await failure(client.listPets());
    for (const error of [got, created, listed]) {
      assert.equal(error.code, "invalid_response", shown);
    }
    assert.deepEqual([got.status, created.status], [200, 201]);
    assert.deepEqual([got.uncertain, created.uncertain], [false, true]);
    assert.match(got.message, /^Cannot get pet: /);
  }
});

test("a pet that is not the one that was asked for is invalid_response", async () => {
  // The second id is what a double makes of 9007199254740993.
  const ids = [[7n, 8n], [9007199254740993n, 9007199254740992n]] as const;
  for (const [asked, came] of ids) {
    const { client } = scripted([json(petJson(came))]);
    const { code, status, message } = await failure(client.getPet(asked));
    assert.deepEqual([code, status], ["invalid_response", 200]);
    const told = "id of the response is not the one that was asked for";
    assert.equal(message, `Cannot get pet: ${told}`);
  }
});

test("the message says which member is wrong, and does not quote it", async () => {
  const messages = {
    [`[${petJson(1n)},{"id":"${KEY}","name":"","categoryId":1}]`]:
      /^Cannot list pets: 1\.id of the response must be an integer from /,
    "{}": /: the body of the response must be an array$/,
    "[[]]": /: 0\.id of the/,
  };
  for (const [text, message] of Object.entries(messages)) {
    const { client } = scripted([json(text)]);
    assert.match((await failure(client.listPets())).message, message);
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

// A status at each edge of its class: 200 is not that of a create, and 201 not that of the others.
for (
  const [statuses, code, message] of [
    [[202, 203, 206, 299], "invalid_response", "which is not in the contract"],
    [[300, 399], "http_error", "a redirect"],
    [[400, 599], "http_error", "and not from the service itself"],
  ] as const
) {
  test(`a response of status ${statuses} is ${code}`, async () => {
    for (const status of statuses) {
      const step = () => json(petJson(1n), { status });
      const { client } = scripted([step, step], { retries: 0 });
      const got = await failure(client.getPet(1n));
      assert.deepEqual([got.code, got.status], [code, status]);
      assert.ok(got.message.includes(message), got.message);
      const created = await failure(client.createPet(REX));
      assert.deepEqual([created.code, created.status], [code, status]);
      assert.equal(created.uncertain, true);
    }
  });
}

test("a status of success that belongs to another operation is invalid_response", async () => {
  const { client } = scripted([
    new Response(null, { status: 204 }),
    json(petJson(1n), { status: 200 }),
  ]);
  assert.equal((await failure(client.listPets())).code, "invalid_response");
  assert.equal((await failure(client.createPet(REX))).status, 200);
});

test("bytes that are not UTF-8 are invalid_response, not U+FFFD", async () => {
  const bytes = new TextEncoder().encode(petJson(1n, "R?x"));
  bytes[bytes.indexOf(0x3f)] = 0xff;
  const { client } = scripted([new Response(bytes)]);
  assert.equal((await failure(client.getPet(1n))).code, "invalid_response");
});

test("a name whose bytes arrive in two halves comes through whole", async () => {
  const bytes = new TextEncoder().encode(petJson(1n, "🐕"));
  const cut = bytes.indexOf(0xf0) + 2;
  const body = ReadableStream.from([bytes.slice(0, cut), bytes.slice(cut)]);
  const { client } = scripted([new Response(body)]);
  assert.equal((await client.getPet(1n)).name, "🐕");
});

test("a body without end is invalid_response, and is not read to its end", async () => {
  const chunk = " ".repeat(1024 * 1024);
  for (const status of [200, 400]) {
    const watched = watchedBody(Array(100).fill(chunk));
    const { client } = scripted([new Response(watched.body, { status })]);
    const error = await failure(client.getPet(1n));
    assert.equal(
      error.code,
      status === 200 ? "invalid_response" : "http_error",
    );
    assert.equal(watched.fate, "cancelled");
  }
});

test("each code of the service arrives as it is", async () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    const { client } = scripted(
      [refusal(code, status, {}, "Why"), refusal(code, status, {}, "Why")],
      { retries: 0 },
    );
    const read = await failure(client.listPets());
    assert.deepEqual([read.code, read.status], [code, status]);
    assert.equal(read.message, "Why");
    assert.equal(read.uncertain, false);
    // Below 500 the service says that it did not do it.
    const created = await failure(client.createPet(REX));
    assert.equal(created.uncertain, status >= 500, code);
  }
});

test("an error page of a proxy is http_error with its status, and not quoted", async () => {
  for (const status of [400, 401, 404, 413, 429, 500, 502, 503, 504]) {
    const { client } = scripted([page(status)], { retries: 0 });
    const error = await failure(client.listPets());
    assert.deepEqual([error.code, error.status], ["http_error", status]);
    assert.match(error.message, RegExp(`^Cannot list pets: .*${status}`));
    assert.ok(error.message.length < 100);
    assert.doesNotMatch(inspect(error), /sorry/);
  }
});

test("JSON that only resembles an Error of the service is http_error", async () => {
  const wrong = [
    { status: 400 },
    { code: "bad_request" },
    { status: "404" },
    { message: 7 },
    { code: "Not Found" },
    { code: "teapot", status: 418 },
  ].map((part) => ({ code: "not_found", message: "No", status: 404, ...part }));
  for (const body of [...wrong, null]) {
    const text = JSON.stringify(body);
    const { client } = scripted([json(text, { status: 404 })]);
    const error = await failure(client.getPet(1n));
    assert.deepEqual([error.code, error.status], ["http_error", 404], text);
  }
});

test("a code that the client does not know arrives as it is, and proves nothing of a create", async () => {
  for (const code of ["teapot", "constructor"]) {
    const { client } = scripted([refusal(code, 418), refusal(code, 418)]);
    const error = await failure(client.getPet(1n));
    assert.deepEqual([error.code, error.status], [code, 418]);
    assert.equal(error.message, "No");
    assert.equal((await failure(client.createPet(REX))).uncertain, true);
  }
});

test("a redirect that a browser hides is http_error without a status", async () => {
  // A Response of this kind cannot be made by hand: the parts that are read stand for it.
  const opaque = { status: 0, headers: new Headers(), body: null, url: "" };
  const { client } = scripted([() => opaque as Response]);
  const error = await failure(client.listPets());
  assert.equal(error.code, "http_error");
  assert.equal(error.status, undefined);
  assert.match(error.message, /redirect/);
});

test("the request id is on the error", async () => {
  const headers = { "x-request-id": "7f3a" };
  const steps = [
    refusal("not_found", 404, headers),
    page(500, headers),
    json("{}", { headers }),
  ];
  const { client } = scripted([...steps, refusal("not_found", 404)]);
  for (const expected of [...steps.map(() => "7f3a"), undefined]) {
    assert.equal((await failure(client.getPet(1n))).requestId, expected);
  }
});

test("a request that gets no response is network_error with its cause", async () => {
  const { client } = scripted([noConnection, noConnection], { retries: 0 });
  const read = await failure(client.listPets());
  assert.equal(read.code, "network_error");
  assert.equal(read.status, undefined);
  assert.match(
    read.message,
    /^Cannot list pets: no response from http:\/\/localhost \(.+\)$/,
  );
  assert.ok(read.cause instanceof TypeError);
  assert.equal(read.uncertain, false);
  assert.equal((await failure(client.createPet(REX))).uncertain, true);
});

test("a key that the reason for no response mentions is not shown", async () => {
  const { client } = scripted([() => {
    throw new TypeError(`proxy refuses Bearer ${KEY}`);
  }], { retries: 0 });
  const { message } = await failure(client.listPets());
  assert.match(message, /proxy refuses Bearer …/);
});

test("of several reasons the message has the first", async () => {
  const cause = new AggregateError(["a", "b", "c"].map((why) => Error(why)));
  const { client } = scripted([() => {
    throw new TypeError("fetch failed", { cause });
  }], { retries: 0 });
  assert.match((await failure(client.listPets())).message, /\(a\)$/);
});

test("a response that breaks off is network_error with its status", async () => {
  const { client } = scripted([
    new Response(watchedBody(["[", " "], "fails").body, {
      headers: { "x-request-id": "7f3a" },
    }),
  ], { retries: 0 });
  const error = await failure(client.listPets());
  assert.equal(error.code, "network_error");
  assert.equal(error.status, 200);
  assert.equal(error.requestId, "7f3a");
  assert.ok(error.cause instanceof TypeError);
});

test("a long or many-lined message is taken over short and on one line", async () => {
  const { client } = scripted([
    refusal("not_found", 404, {}, `\u001b[31m${"no\n".repeat(100_000)}`),
  ]);
  const { message } = await failure(client.getPet(1n));
  assert.ok(message.length <= 1000);
  assert.match(message, /^ \[31mno no no/);
  assert.doesNotMatch(message, /\p{Cc}/u);
});

test("a next page elsewhere is an error, and the key does not go there", async () => {
  const targets = [
    ...["http://elsewhere/v1/pets?after=1", "//elsewhere/v1/pets?after=1"],
    ...["http://localhost:8080/v1/pets?after=1", "http://localhost@elsewhere/"],
    ...["http://", `http://${KEY}/`],
  ];
  for (const target of targets) {
    const headers = { link: `<${target}>; rel="next"` };
    const step = () => json(`[${petJson(1n)}]`, { headers });
    const { client } = scripted([step, step]);
    const calls = [() => client.listPets(), () => collect(client.pets())];
    for (const call of calls) {
      const { code, status, message } = await failure(call());
      assert.deepEqual([code, status], ["invalid_response", 200], target);
      assert.ok(!message.includes(KEY));
    }
  }
});

// Whatever a server, a proxy or the network says: it may echo the key in every part of a response.
test("the key is in no error, nor in what is shown of it or of the client", async () => {
  const part = fc.constantFrom(
    KEY,
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
    const calls = [
      () => client.listPets(),
      () => client.getPet(1n),
      () => client.createPet(REX),
    ];
    for (const call of calls) {
      const error = await failure(call());
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

test("relative links resolve against the address of the page", async () => {
  const cases = [
    ["?limit=2&after=1", `${BASE}/pets?limit=2&after=1`],
    ["pets?after=1", `${BASE}/pets?after=1`],
    ["../v2/pets?after=1", "http://localhost/v2/pets?after=1"],
    ["/v1/pets?after=1", `${BASE}/pets?after=1`],
    ["//localhost/x", "http://localhost/x"],
    ["http://localhost:80/x", "http://localhost/x"],
    ["?after=1#top", `${BASE}/pets?after=1`],
  ];
  for (const [target, expected] of cases) {
    const headers = { link: `<${target}>; rel="next"` };
    const { client } = scripted([json(`[${petJson(1n)}]`, { headers })]);
    assert.equal((await client.listPets({ limit: 2 })).next, expected);
  }
});
