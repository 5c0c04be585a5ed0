/** What is no answer of the contract is an error with a code, a status and a short message. */
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
  type Step,
  watchedBody,
} from "./scripted.ts";
import { fc } from "../../support/property.ts";

test("a Pet that is not what the contract says is invalid_response", async () => {
  const wrong = [
    "null",
    "{}",
    '{"name":"Rex","categoryId":1,"status":"sold"}',
    '{"id":"1","name":"Rex","categoryId":1,"status":"sold"}',
    '{"id":1.5,"name":"Rex","categoryId":1,"status":"sold"}',
    '{"id":0,"name":"Rex","categoryId":1,"status":"sold"}',
    '{"id":9223372036854775808,"name":"Rex","categoryId":1,"status":"sold"}',
    '{"id":1,"name":7,"categoryId":1,"status":"sold"}',
    '{"id":1,"name":"Rex","categoryId":"1","status":"sold"}',
    '{"id":1,"name":"Rex","categoryId":1e19,"status":"sold"}',
    '{"id":1,"name":"Rex","categoryId":1,"status":"Sold"}',
    '{"id":1,"name":"Rex","categoryId":1,"status":"sold"',
    '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}]',
    "",
    `${"[".repeat(1_000_000)}`,
  ];
  for (const text of wrong) {
    const { client } = scripted([
      json(text),
      json(text, { status: 201 }),
      json(`[${petJson(1n)},${text}]`),
    ]);
    const shown = text.slice(0, 80);
    const got = await failure(client.getPet(1n));
    assert.equal(got.code, "invalid_response", shown);
    assert.equal(got.status, 200);
    assert.equal(got.uncertain, false);
    assert.match(got.message, /^Cannot get pet: /);
    const created = await failure(client.createPet(REX));
    assert.equal(created.code, "invalid_response", shown);
    assert.equal(created.status, 201);
    assert.equal(created.uncertain, true);
    // An empty element is no JSON either.
    const listed = await failure(client.listPets());
    assert.equal(listed.code, "invalid_response", shown);
  }
});

test("a pet that is not the one that was asked for is invalid_response", async () => {
  const { client } = scripted([
    json(petJson(8n)),
    json(petJson("9007199254740992")),
    json(petJson(7n)),
  ]);
  const other = await failure(client.getPet(7n));
  assert.equal(other.code, "invalid_response");
  assert.equal(other.status, 200);
  assert.equal(
    other.message,
    "Cannot get pet: id of the response is not the one that was asked for",
  );
  const rounded = await failure(client.getPet(9007199254740993n));
  assert.equal(rounded.code, "invalid_response");
  assert.equal((await client.getPet(7n)).id, 7n);
});

test("the message says which member is wrong, and does not quote it", async () => {
  const { client } = scripted([
    json(`[${petJson(1n)},{"id":"${KEY}","name":"","categoryId":1}]`),
    json("{}"),
    json("[[]]"),
  ]);
  const id = await failure(client.listPets());
  assert.match(
    id.message,
    /^Cannot list pets: 1\.id of the response must be an integer from /,
  );
  const bare = await failure(client.listPets());
  assert.match(bare.message, /: the body of the response must be an array$/);
  assert.match((await failure(client.listPets())).message, /: 0\.id of the/);
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

test("another status of success is invalid_response", async () => {
  for (const status of [202, 203, 206]) {
    const { client } = scripted([
      json(petJson(1n), { status }),
      json(petJson(1n), { status }),
    ]);
    const got = await failure(client.getPet(1n));
    assert.equal(got.code, "invalid_response");
    assert.equal(got.status, status);
    assert.equal((await failure(client.createPet(REX))).uncertain, true);
  }
  const { client } = scripted([
    new Response(null, { status: 204 }),
    json(petJson(1n), { status: 200 }),
  ]);
  assert.equal((await failure(client.listPets())).code, "invalid_response");
  assert.equal((await failure(client.createPet(REX))).status, 200);
});

test("a status at the edge of its class is named for that class", async () => {
  for (
    const [status, code, message] of [
      [200, "invalid_response", /is 200, which is not in the contract$/],
      [299, "invalid_response", /is 299, which is not in the contract$/],
      [300, "http_error", /is a redirect/],
      [399, "http_error", /is a redirect/],
      [400, "http_error", /is 400, and not from the service itself$/],
    ] as const
  ) {
    const { client } = scripted([json(petJson(1n), { status })]);
    const error = await failure(client.createPet(REX));
    assert.equal(error.code, code);
    assert.match(error.message, message);
  }
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
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(bytes.slice(0, cut));
      controller.enqueue(bytes.slice(cut));
      controller.close();
    },
  });
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
    const { client } = scripted([page(status), page(status)], { retries: 0 });
    const error = await failure(client.listPets());
    assert.equal(error.code, "http_error");
    assert.equal(error.status, status);
    assert.match(error.message, new RegExp(`^Cannot list pets: .*${status}`));
    assert.ok(error.message.length < 100);
    assert.doesNotMatch(inspect(error), /sorry/);
    assert.equal((await failure(client.createPet(REX))).uncertain, true);
  }
});

test("JSON that only resembles an Error of the service is http_error", async () => {
  for (
    const body of [
      '{"code":"not_found","message":"No","status":400}',
      '{"code":"bad_request","message":"No","status":404}',
      '{"code":"not_found","message":"No","status":"404"}',
      '{"code":"not_found","message":7,"status":404}',
      '{"code":"Not Found","message":"No","status":404}',
      '{"code":"teapot","message":"No","status":418}',
      "null",
    ]
  ) {
    const { client } = scripted([json(body, { status: 404 })]);
    const error = await failure(client.getPet(1n));
    assert.equal(error.code, "http_error", body);
    assert.equal(error.status, 404);
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
  const { client } = scripted([
    refusal("not_found", 404, headers),
    page(500, headers),
    json("{}", { headers }),
    refusal("not_found", 404),
  ]);
  for (let i = 0; i < 3; i++) {
    assert.equal((await failure(client.getPet(1n))).requestId, "7f3a");
  }
  assert.equal((await failure(client.getPet(1n))).requestId, undefined);
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
  for (
    const target of [
      "http://elsewhere/v1/pets?after=1",
      "http://localhost:8080/v1/pets?after=1",
      "//elsewhere/v1/pets?after=1",
      "http://localhost@elsewhere/",
      "http://",
      `http://${KEY}/`,
    ]
  ) {
    const link = `<${target}>; rel="next"`;
    const script: Step[] = [
      json(`[${petJson(1n)}]`, { headers: { link } }),
      json(`[${petJson(1n)}]`, { headers: { link } }),
    ];
    const { client, requests } = scripted(script);
    for (
      const call of [() => client.listPets(), () => collect(client.pets())]
    ) {
      const error = await failure(call());
      assert.equal(error.code, "invalid_response", target);
      assert.equal(error.status, 200);
      assert.ok(!error.message.includes(KEY));
    }
    assert.equal(requests.length, 2);
  }
});

test("a malformed Link header is an error, and does not end a walk early", async () => {
  const headers = { link: "?after=1; rel=next" };
  const { client } = scripted([json(`[${petJson(1n)}]`, { headers })]);
  const error = await failure(collect(client.pets()));
  assert.equal(error.code, "invalid_response");
  assert.match(error.message, /Link header is malformed/);
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
