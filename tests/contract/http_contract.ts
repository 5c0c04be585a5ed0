/**
 * What the service promises over HTTP: one test per clause of the contract and per row of the tables
 * in docs/contract.md. The suite judges anything with a base address: `handle` itself, and servers on
 * every runtime.
 *
 * What `fetch` cannot send is in `raw_http_contract.ts`.
 *
 * @module
 */

import assert from "node:assert/strict";
import test from "node:test";
import {
  type Answer,
  ask,
  linked,
  type OpenService,
  type Question,
} from "./ask.ts";
import { assertError, assertJsonHeaders } from "./error_reply.ts";
import { httpIdempotencyContract } from "./http_idempotency_contract.ts";
import type { TestOptions } from "./test_options.ts";

const INT64_MAX = "9223372036854775807";
const INT64_MIN = "-9223372036854775808";
const KEYLESS = { headers: { authorization: undefined } };
const REX = '{"name":"Rex","categoryId":1}';

/** Registers the suite; `open` makes a fresh and empty service for each test. */
export function httpContract(
  name: string,
  open: () => Promise<OpenService>,
  options: TestOptions = {},
): void {
  function it(
    sentence: string,
    check: (service: OpenService) => Promise<void>,
  ): void {
    test(`${name}: ${sentence}`, options, async () => {
      const service = await open();
      try {
        await check(service);
      } finally {
        await service.close();
      }
    });
  }

  // ---- Requests and routing ----

  it("an unknown path, also one that is named but not described, is 404 for any method, key or none", async (service) => {
    for (const method of ["GET", "DELETE", "OPTIONS"]) {
      for (const authorization of [undefined, `Bearer ${service.key}`]) {
        const answer = await ask(service, method, "/store/orders", {
          headers: { authorization },
        });
        assertError(answer, "not_found");
      }
    }
  });

  it("paths are exact and case-sensitive", async (service) => {
    assert.equal((await create(service, REX)).status, 201);
    assert.equal((await get(service, "/pets/1")).status, 200);
    const others = ["/pets/", "//pets", "/PETS", "/petsx", "/pets//1"]
      .concat("/pets/1/", "/pets/1/x", "/pets%2F1", "/%70ets", "", "/");
    for (const path of others) {
      assertError(await get(service, path), "not_found");
    }
    const { origin } = new URL(service.base);
    for (const path of ["/pets", "/v2/pets", "/V1/pets"]) {
      assertError(await get(service, origin + path), "not_found");
    }
  });

  it("another method on a known path is 405 with Allow, key or none", async (service) => {
    const wrong: [method: string, path: string, allow: string][] = [
      ["PUT", "/pets", "GET, HEAD, POST, OPTIONS"],
      ["POST", "/pets/1", "GET, HEAD, OPTIONS"],
    ];
    for (const [method, path, allow] of wrong) {
      for (const authorization of [undefined, `Bearer ${service.key}`]) {
        const answer = await ask(service, method, path, {
          headers: { authorization },
        });
        assertError(answer, "method_not_allowed");
        assert.equal(answer.headers.get("allow"), allow);
      }
    }
  });

  it("OPTIONS on a known path is 204 with Allow and needs no key", async (service) => {
    const known = [
      ["/pets", "GET, HEAD, POST, OPTIONS"],
      ["/pets/1", "GET, HEAD, OPTIONS"],
    ] as const;
    for (const [path, allow] of known) {
      const answer = await ask(service, "OPTIONS", path, KEYLESS);
      assert.equal(answer.status, 204);
      assert.equal(answer.headers.get("allow"), allow);
      assert.equal(answer.text, "");
    }
  });

  it("a page of another origin is told nothing: CORS is off, and no response has a field of it", async (service) => {
    const origin = "https://app.example.com";
    const preflight = await ask(service, "OPTIONS", "/pets", {
      headers: { origin, "access-control-request-method": "POST" },
    });
    assert.equal(preflight.status, 204);
    const list = await get(service, "/pets", { headers: { origin } });
    assert.equal(list.status, 200);
    for (const { headers } of [preflight, list]) {
      assert.equal(headers.get("vary"), null);
      const names = [...headers.keys()];
      assert.ok(!names.some((name) => name.startsWith("access-control-")));
    }
  });

  it("HEAD answers as GET does, without the body", async (service) => {
    assert.equal(
      (await create(service, '{"name":"Zoë","categoryId":1}')).status,
      201,
    );
    const paths = ["/pets", "/pets?limit=0", "/pets/1", "/pets/2", "/nothing"];
    for (const path of paths) {
      for (const authorization of [`Bearer ${service.key}`, undefined]) {
        const headers = { authorization };
        const got = await get(service, path, { headers });
        const head = await ask(service, "HEAD", path, { headers });
        assert.equal(head.status, got.status, path);
        assert.equal(head.text, "");
        assert.notEqual(got.text, "");
        assert.equal(
          head.headers.get("content-length"),
          String(new TextEncoder().encode(got.text).byteLength),
        );
        assert.deepEqual(fields(head), fields(got));
      }
    }
  });

  it("unknown query parameters are ignored", async (service) => {
    assert.equal((await create(service, REX)).status, 201);
    const plain = await get(service, "/pets");
    assert.equal(plain.text.length > 2, true);
    const queries = ["?", "?Limit=0&sort=a&sort=b", "?=0&&", "??limit=0"];
    for (const query of queries) {
      const answer = await get(service, `/pets${query}`);
      assert.equal(answer.status, 200, query);
      assert.equal(answer.text, plain.text);
    }
  });

  it("unknown body members are ignored and not kept", async (service) => {
    const answer = await create(
      service,
      '{"id":77,"tags":["a"],"name":"Rex","categoryId":1,"toString":null,"__proto__":{"status":"sold"}}',
    );
    assert.equal(answer.status, 201);
    assert.equal(
      answer.text,
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
    );
  });

  it("a repeated limit, status or after is 400", async (service) => {
    for (
      const query of [
        "limit=5&limit=5",
        "status=sold&status=sold",
        "after=1&x=&after=2",
      ]
    ) {
      const answer = await get(service, `/pets?${query}`);
      const message = assertError(answer, "bad_request");
      const [name] = query.split("=");
      assert.match(message, new RegExp(`${name} must be one .*, not 2 values`));
    }
  });

  // ---- The order of checks ----

  it("the key is checked before the body and the query are", async (service) => {
    const headers = { authorization: "Bearer wrong" };
    const asked = [
      await get(service, "/pets?limit=0", { headers }),
      await ask(service, "POST", "/pets", {
        headers: { ...headers, "content-type": "text/plain" },
        body: tooMuch(),
      }),
    ];
    for (const answer of asked) assertError(answer, "unauthorized");
  });

  it("nobody without a key learns whether an animal exists", async (service) => {
    assert.equal((await create(service, REX)).status, 201);
    const headers = { authorization: undefined };
    const there = await get(service, "/pets/1", { headers });
    const none = await get(service, "/pets/2", { headers });
    const noId = await get(service, "/pets/x", { headers });
    assertError(there, "unauthorized");
    for (const other of [none, noId]) {
      assert.equal(other.status, 401);
      assert.equal(other.text, there.text);
      assert.deepEqual(fields(other), fields(there));
    }
  });

  it("the media type is checked before the size, the size before the content", async (service) => {
    const headers = { "content-type": "text/plain" };
    assertError(
      await ask(service, "POST", "/pets", { headers, body: tooMuch() }),
      "unsupported_media_type",
    );
    assertError(await create(service, tooMuch()), "payload_too_large");
  });

  // ---- Listing ----

  it("listPets answers an empty array where there is no animal", async (service) => {
    const answer = await get(service, "/pets");
    assert.equal(answer.status, 200);
    assert.equal(answer.text, "[]");
    assert.equal(answer.headers.get("link"), null);
    assertJsonHeaders(answer.headers);
  });

  it("listPets answers a bare array, ascending by id, in order of creation", async (service) => {
    await create(service, '{"name":"b","categoryId":2,"status":"sold"}');
    await create(service, '{"name":"a","categoryId":1}');
    const answer = await get(service, "/pets");
    assert.equal(answer.status, 200);
    assert.equal(
      answer.text,
      '[{"id":1,"name":"b","categoryId":2,"status":"sold"},{"id":2,"name":"a","categoryId":1,"status":"available"}]',
    );
  });

  it("listPets answers 20 animals where no limit is sent", async (service) => {
    await createMany(service, 21);
    const answer = await get(service, "/pets");
    assert.deepEqual(ids(answer), range(1, 20));
    assert.notEqual(answer.headers.get("link"), null);
  });

  it("listPets takes a limit from 1 to 100", async (service) => {
    await createMany(service, 101);
    for (const limit of [1, 100]) {
      const answer = await get(service, `/pets?limit=${limit}`);
      assert.deepEqual(ids(answer), range(1, limit));
    }
  });

  it("listPets refuses a limit out of bounds or not in canonical decimal form", async (service) => {
    for (const limit of ["0", "101", "1e1", "+5", "05", "10.0", "", "%205"]) {
      const answer = await get(service, `/pets?limit=${limit}`);
      const message = assertError(answer, "bad_request");
      assert.match(message, /limit .*1 to 100/);
      const sent = new URLSearchParams(`limit=${limit}`).get("limit") ?? "";
      assert.ok(message.includes(JSON.stringify(sent)), message);
    }
    assertError(await get(service, "/pets?limit"), "bad_request");
  });

  it("one message names every parameter that is wrong", async (service) => {
    const answer = await get(service, "/pets?limit=0&status=gone&after=x");
    assert.match(
      assertError(answer, "bad_request"),
      /limit.*"0".*status.*"gone".*after.*"x"/,
    );
  });

  it("listPets filters by each status", async (service) => {
    for (const status of ["available", "pending", "sold", "pending"]) {
      await create(
        service,
        `{"name":"Rex","categoryId":1,"status":"${status}"}`,
      );
    }
    const found = async (status: string) =>
      ids(await get(service, `/pets?status=${status}`));
    assert.deepEqual(await found("available"), [1]);
    assert.deepEqual(await found("pending"), [2, 4]);
    assert.deepEqual(await found("sold"), [3]);
  });

  it("listPets refuses a status that is none of the three", async (service) => {
    for (const status of ["", "Sold", "gone", "available,sold"]) {
      const answer = await get(service, `/pets?status=${status}`);
      assert.match(
        assertError(answer, "bad_request"),
        /status .*available, pending, sold/,
      );
    }
  });

  it("listPets answers the animals above after", async (service) => {
    await createMany(service, 3);
    const found = async (after: string) =>
      ids(await get(service, `/pets?after=${after}`));
    assert.deepEqual(await found("0"), [1, 2, 3]);
    assert.deepEqual(await found("1"), [2, 3]);
    assert.deepEqual(await found("3"), []);
    assert.deepEqual(await found("-1"), [1, 2, 3]);
    assert.deepEqual(await found(INT64_MIN), [1, 2, 3]);
    assert.deepEqual(await found(INT64_MAX), []);
  });

  it("listPets refuses an after that is no int64 in canonical form", async (service) => {
    for (const after of ["", "x", "1.0", "+1", "01", "9223372036854775808"]) {
      const answer = await get(
        service,
        `/pets?after=${encodeURIComponent(after)}`,
      );
      assert.match(assertError(answer, "bad_request"), /after /);
    }
  });

  it("listPets links the next page exactly when more animals match", async (service) => {
    await createMany(service, 3);
    await create(service, '{"name":"Rex","categoryId":1,"status":"sold"}');
    const link = async (query: string) =>
      (await get(service, `/pets?${query}`)).headers.get("link");
    assert.notEqual(await link("limit=3"), null);
    assert.equal(await link("limit=4"), null);
    assert.equal(await link("limit=5"), null);
    // Three available ones: the fourth animal is sold, and does not count.
    assert.equal(await link("limit=3&status=available"), null);
    assert.notEqual(await link("limit=2&status=available"), null);
    assert.equal(await link("limit=1&status=sold"), null);
    assert.equal(await link("limit=3&after=1"), null);
  });

  it("the next page keeps limit and status and drops what was ignored", async (service) => {
    await createMany(service, 3);
    const from = `${service.base}/pets?status=available&limit=1&sort=name`;
    const next = linked(await get(service, from), { rel: "next", from });
    const expected = "/pets?limit=1&status=available&after=1";
    assert.equal(next, service.base + expected);
  });

  // ---- Animals ----

  it("a name has 1 to 255 code points and is kept exactly", async (service) => {
    const names = [
      " ",
      "🐕".repeat(255),
      "\u0080\u009f\u2028\ufeff\ufffd\u200b",
      "Zoe\u0308", // not composed to Zoë
      '"\\/',
    ];
    for (const [index, name] of names.entries()) {
      const pet = JSON.stringify({ name, categoryId: 1 });
      const answer = await create(service, pet);
      assert.equal(answer.status, 201, answer.text);
      assert.equal(JSON.parse(answer.text).name, name);
      const kept = await get(service, `/pets/${index + 1}`);
      assert.equal(JSON.parse(kept.text).name, name);
    }
  });

  const long = ["x", "🐕"].map((character) => `"${character.repeat(256)}"`);
  const controls = ['"R\\u0000x"', '"R\\u001fx"', '"R\\u007fx"'];
  for (
    const [what, member, values, reason] of [
      ["a status that is none of the three", "status", ['""', '"Sold"'], ""],
      ["a status that is no text", "status", ["null", '["sold"]'], ""],
      ["a name that is empty", "name", ['""'], "empty"],
      ["a name that is too long, or no text", "name", [...long, "null"], ""],
      ["control characters in a name", "name", controls, "control"],
      ["a lone surrogate", "name", ['"\\udc15\\ud83d"'], "surrogate"],
      ["half a pair", "name", ['"\\ud83d"'], "surrogate"],
      ["a categoryId of a fraction", "categoryId", ["1.5"], "integer"],
      [
        "a great categoryId",
        "categoryId",
        ["9223372036854775808", "1e400"],
        "",
      ],
      ["a categoryId that is no number", "categoryId", ['"1"', "null"], ""],
    ] as const
  ) {
    it(`createPet refuses ${what}, and no other member`, async (service) => {
      for (const value of values) {
        const pet = { name: '"Rex"', categoryId: 1, [member]: value };
        const members = Object.entries(pet).map(([key, text]) =>
          `"${key}":${text}`
        );
        const answer = await create(service, `{${members}}`);
        const message = assertError(answer, "bad_request");
        assert.match(message, new RegExp(`${member} .*${reason}`));
        for (const other of Object.keys(pet)) {
          assert.ok(other === member || !message.includes(other), message);
        }
      }
    });
  }

  it("createPet takes a surrogate pair however it is spelled", async (service) => {
    const pet = '{"name":"\\uD83D\\udC15","categoryId":1}';
    const answer = await create(service, pet);
    assert.equal(answer.status, 201);
    assert.equal(JSON.parse(answer.text).name, "🐕");
  });

  it("a categoryId is any int64, exact to the last digit in, stored and out", async (service) => {
    const exact = ["0", "1", "-1", "9007199254740993", INT64_MAX, INT64_MIN]
      .concat("-9007199254740993", "9223372036854775806");
    for (const [index, categoryId] of exact.entries()) {
      const sent = `"name":"Rex","categoryId":${categoryId}`;
      const pet = `{"id":${index + 1},${sent},"status":"available"}`;
      assert.equal((await create(service, `{${sent}}`)).text, pet);
      const kept = await get(service, `/pets/${index + 1}`);
      assert.equal(kept.text, pet);
      const listed = await get(service, `/pets?after=${index}`);
      assert.equal(listed.text, `[${pet}]`);
    }
  });

  it("a categoryId is an integer however JSON spells it", async (service) => {
    const spellings = [
      ["1.0", "1"],
      ["1e2", "100"],
      ["-0", "0"],
      ["922337203685477580.7e1", INT64_MAX],
    ];
    for (const [spelling, value] of spellings) {
      const pet = `{"name":"Rex","categoryId":${spelling}}`;
      const answer = await create(service, pet);
      assert.equal(answer.status, 201, `${spelling}`);
      assert.ok(answer.text.includes(`"categoryId":${value},`), answer.text);
    }
  });

  it("getPet answers the animal", async (service) => {
    await create(service, REX);
    const members = '"name":"Tom","categoryId":2,"status":"sold"}';
    const created = await create(service, `{${members}`);
    const answer = await get(service, "/pets/2");
    assert.equal(answer.status, 200);
    assert.equal(answer.text, created.text);
    assert.equal(answer.text, `{"id":2,${members}`);
    assertJsonHeaders(answer.headers);
  });

  it("getPet answers 404 where there is none with the id, or it is no int64", async (service) => {
    await create(service, REX);
    const wrong = ["2", "0", "-1", "01", "1.0", "%31", "x", INT64_MAX]
      .concat("9223372036854775808", "1".repeat(2000), "%", "%FF");
    for (const petId of wrong) {
      assertError(await get(service, `/pets/${petId}`), "not_found");
    }
  });

  // ---- Creating ----

  it("createPet answers 201 with the animal and its address", async (service) => {
    const answer = await create(service, REX);
    assert.equal(answer.status, 201);
    assert.equal(
      answer.text,
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
    );
    assertJsonHeaders(answer.headers);
    const location = answer.headers.get("location");
    assert.ok(location !== null);
    const address = new URL(location, `${service.base}/pets`).href;
    assert.equal(address, `${service.base}/pets/1`);
    assert.equal((await get(service, address)).text, answer.text);
  });

  it("createPet takes application/json in any case, or no Content-Type", async (service) => {
    const types = [
      undefined,
      "Application/JSON",
      'application/json ; charset="UTF-8"',
    ];
    for (const type of types) {
      const answer = await create(service, REX, { "content-type": type });
      assert.equal(answer.status, 201, `${type}: ${answer.text}`);
    }
  });

  it("createPet refuses any other media type with 415 and Accept", async (service) => {
    const types = ["text/plain", "application/json; charset=utf-16"];
    for (const type of types) {
      const answer = await create(service, REX, { "content-type": type });
      assertError(answer, "unsupported_media_type");
      assert.equal(answer.headers.get("accept"), "application/json");
    }
    assert.equal((await get(service, "/pets")).text, "[]");
  });

  it("createPet refuses a Content-Encoding other than identity with 415", async (service) => {
    for (const coding of ["gzip", "identity, gzip"]) {
      const answer = await create(service, REX, { "content-encoding": coding });
      assertError(answer, "unsupported_media_type");
      assert.equal(answer.headers.get("accept"), "application/json");
    }
    const plain = await create(service, REX, {
      "content-encoding": "Identity",
    });
    assert.equal(plain.status, 201);
  });

  it("createPet refuses bytes that are not UTF-8", async (service) => {
    const sequences = [
      [0xff],
      [0xc0, 0xaf], // overlong
      [0xed, 0xa0, 0x80], // a surrogate
    ];
    for (const sequence of sequences) {
      const body = new Uint8Array([
        ...bytes('{"name":"R'),
        ...sequence,
        ...bytes('x","categoryId":1}'),
      ]);
      const message = assertError(await create(service, body), "bad_request");
      assert.match(message, /UTF-8/);
    }
    assert.equal((await get(service, "/pets")).text, "[]");
  });

  it("createPet takes a body of 64 KiB, and refuses one byte more with 413", async (service) => {
    const full = REX + " ".repeat(65_536 - REX.length);
    assert.equal((await create(service, full)).status, 201);
    const answer = await create(service, full + " ");
    assert.match(assertError(answer, "payload_too_large"), /65536/);
  });

  it("createPet counts bytes, not characters, and takes a body in pieces", async (service) => {
    const stream = (total: number): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(bytes(REX));
          for (let left = total - REX.length; left > 0; left -= 1000) {
            controller.enqueue(bytes(" ".repeat(Math.min(left, 1000))));
          }
          controller.close();
        },
      });
    assert.equal((await create(service, stream(65_536))).status, 201);
    assertError(await create(service, stream(65_537)), "payload_too_large");
    const wide = `{"name":"Rex","categoryId":1,"x":"${"é".repeat(33_000)}"}`;
    assertError(await create(service, wide), "payload_too_large");
  });

  it("one 400 names each member and what is wrong with it", async (service) => {
    const answer = await create(
      service,
      '{"name":"","categoryId":1.5,"status":"gone"}',
    );
    const message = assertError(answer, "bad_request");
    assert.match(
      message,
      /name .*empty.*categoryId .*integer.*status .*one of available, pending, sold/,
    );
    assert.match(
      assertError(await create(service, "{}"), "bad_request"),
      /name is required.*categoryId is required/,
    );
  });

  it("a body that is missing, or no JSON object, is 400", async (service) => {
    const wrong = [
      undefined,
      "",
      "{",
      "null",
      `[${REX}]`,
      `${REX}${REX}`,
      '{"name":"Rex","categoryId":01}',
      "[".repeat(30_000) + "]".repeat(30_000),
      '{"__proto__":{"name":"Rex","categoryId":1}}',
    ];
    for (const body of wrong) {
      assertError(
        await ask(service, "POST", "/pets", body === undefined ? {} : { body }),
        "bad_request",
      );
    }
    assert.equal((await get(service, "/pets")).text, "[]");
  });

  // ---- Errors and authentication ----

  it("no key is 401 with a challenge and without an error code", async (service) => {
    for (const authorization of [undefined, "Bearer", "Basic dTpw"]) {
      for (const operation of ["GET /pets", "POST /pets", "GET /pets/1"]) {
        const [method = "", path = ""] = operation.split(" ");
        const headers = { authorization };
        const answer = await ask(service, method, path, { headers });
        assertError(answer, "unauthorized");
        const challenge = answer.headers.get("www-authenticate");
        assert.equal(challenge, 'Bearer realm="petstore"');
      }
    }
  });

  it("a wrong key is 401 with the code invalid_token", async (service) => {
    const { key } = service;
    const wrong = ["wrong", `${key}x`, key.slice(0, -1), `${key},${key}`];
    for (const token of wrong) {
      const answer = await get(service, "/pets", {
        headers: { authorization: `Bearer ${token}` },
      });
      assertError(answer, "unauthorized");
      assert.equal(
        answer.headers.get("www-authenticate"),
        'Bearer realm="petstore", error="invalid_token"',
      );
      assert.ok(!answer.text.includes(token) || token === "wrong");
    }
  });

  it("the scheme name is case-insensitive", async (service) => {
    for (const scheme of ["bEaReR", "Bearer  "]) {
      const answer = await get(service, "/pets", {
        headers: { authorization: `${scheme} ${service.key}` },
      });
      assert.equal(answer.status, 200, scheme);
    }
  });

  it("a key in the query or the body opens nothing", async (service) => {
    const headers = { authorization: undefined };
    assertError(
      await get(service, `/pets?access_token=${service.key}`, { headers }),
      "unauthorized",
    );
  });

  // ---- Deprecation ----

  it("every response of getPet says that it is deprecated", async (service) => {
    await create(service, REX);
    const from = `${service.base}/pets/1`;
    const answers = [
      await get(service, "/pets/1"),
      await ask(service, "HEAD", "/pets/1"),
      await get(service, "/pets/2"),
      await get(service, "/pets/x"),
      await get(service, "/pets/1", { headers: { authorization: undefined } }),
    ];
    assert.deepEqual(answers.map(({ status }) => status), [
      200,
      200,
      404,
      404,
      401,
    ]);
    for (const answer of answers) {
      assert.equal(
        answer.headers.get("sunset"),
        "Thu, 05 Dec 2030 00:00:00 GMT",
      );
      assert.equal(answer.headers.get("deprecation"), "@1764892800");
      assert.equal(
        linked(answer, { rel: "successor-version", from }),
        `${service.base}/pets`,
      );
    }
  });

  httpIdempotencyContract(it);
}

function get(
  service: OpenService,
  address: string,
  question: Question = {},
): Promise<Answer> {
  return ask(service, "GET", address, question);
}

function create(
  service: OpenService,
  body: string | Uint8Array | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  return ask(service, "POST", "/pets", { body, headers });
}

async function createMany(service: OpenService, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    assert.equal((await create(service, REX)).status, 201);
  }
}

function ids(answer: Answer): number[] {
  assert.equal(answer.status, 200, answer.text);
  const pets: { id: number }[] = JSON.parse(answer.text);
  return pets.map(({ id }) => id);
}

/** The fields that `handle` sets; servers add others (`Date`, `Connection`, …). */
function fields({ headers }: Answer): Record<string, string | null> {
  const names = [
    "allow",
    "cache-control",
    "content-type",
    "deprecation",
    "link",
    "location",
    "sunset",
    "www-authenticate",
    "x-content-type-options",
  ];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function tooMuch(): Uint8Array {
  return new Uint8Array(65_537);
}
