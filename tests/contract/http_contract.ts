/**
 * What the service promises over HTTP: a clause for each sentence of the interface, and for each row of
 * the tables in docs/contract.md. They judge anything with a base address: `handle` itself, servers on
 * every runtime, and pet stores of other people.
 *
 * What `fetch` cannot send is in `raw_http_contract.ts`.
 *
 * @module
 */

import assert from "node:assert/strict";
import { answers, CREATE, REX } from "./answers.ts";
import { ask, linked } from "./ask.ts";
import type { Answer, OpenService, Question } from "./ask.ts";
import { type Clause, decided, stated } from "./clause.ts";
import * as reply from "./error_reply.ts";
import * as own from "./own_pets.ts";
import { add, bodyOf, create, get, named, newName } from "./own_pets.ts";

const INT64_MAX = "9223372036854775807";
const INT64_MIN = "-9223372036854775808";
const STATUSES = ["available", "pending", "sold"];
const OPERATIONS = ["GET /pets", CREATE, "GET /pets/{id}"];
const ON_PETS = { fields: { allow: "GET, HEAD, POST, OPTIONS" } };
const ON_PET = { fields: { allow: "GET, HEAD, OPTIONS" } };
const authorized = sending("authorization");
const typed = sending("content-type");
const encoded = sending("content-encoding");
const KEYLESS = authorized(undefined);
const ANYBODY = { asks: [{}, KEYLESS] };
const WRONG_KEY = { asks: [authorized("Bearer wrong")] };
const TOO_MUCH = "x".repeat(65_537); // by one byte

// deno-fmt-ignore -- a table
/** Values of a member that createPet refuses, as JSON; and how our message says why. */
const REFUSED_MEMBERS: readonly (readonly [by: typeof stated, what: string, member: string, values: readonly string[], reason?: string])[] = [
  [stated, "a status that is none of the three", "status", ['""', '"Sold"']],
  [stated, "a status that is no text", "status", ["null", '["sold"]']],
  [stated, "a name that is no text", "name", ["null", "7"]],
  [decided, "a name that is empty", "name", ['""'], "empty"],
  [decided, "a name that is too long", "name", [`"${"x".repeat(256)}"`, `"${"🐕".repeat(256)}"`]],
  [decided, "control characters in a name", "name", ['"R\\u0000x"', '"R\\u001fx"', '"R\\u007fx"'], "control"],
  [decided, "a lone surrogate", "name", ['"\\udc15\\ud83d"'], "surrogate"],
  [decided, "half a pair", "name", ['"\\ud83d"'], "surrogate"],
  [stated, "a categoryId of a fraction", "categoryId", ["1.5"], "integer"],
  [stated, "a great categoryId", "categoryId", ["9223372036854775808", "1e400"]],
  [stated, "a categoryId that is no number", "categoryId", ['"1"', "null"]],
];

// deno-fmt-ignore -- one line for each sentence, however long
/** The clauses. */
export const HTTP_CLAUSES: readonly Clause[] = [
  // ---- Requests and routing ----
  decided("an unknown path, also one that is named but not described, is 404 for any method, key or none",
    answers(404, ["GET /store/orders", "DELETE /store/orders", "OPTIONS /store/orders"], ANYBODY)),
  decided("paths are exact and case-sensitive",
    answers(200, ["GET /pets", "GET /pets/{id}"]),
    answers(404, ["GET /pets/", "GET //pets", "GET /PETS", "GET /petsx", "GET /pets//{id}", "GET /pets/{id}/",
      "GET /pets/{id}/x", "GET /pets%2F{id}", "GET /%70ets", "GET ", "GET /",
      "GET {above}/pets", "GET {above}/v2/pets", "GET {above}/V1/pets"])),
  decided("another method on a known path is 405 with Allow, key or none",
    answers(405, ["PUT /pets"], { ...ANYBODY, ...ON_PETS }),
    answers(405, ["POST /pets/{id}"], { ...ANYBODY, ...ON_PET })),
  decided("OPTIONS on a known path is 204 with Allow and needs no key",
    answers(204, ["OPTIONS /pets"], { ...ANYBODY, ...ON_PETS }),
    answers(204, ["OPTIONS /pets/{id}"], { ...ANYBODY, ...ON_PET })),

  decided("a page of another origin is told nothing: CORS is off, and no response has a field of it", async (service) => {
    const origin = "https://app.example.com";
    const preflight = await ask(service, "OPTIONS", "/pets", { headers: { origin, "access-control-request-method": "POST" } });
    assert.equal(preflight.status, 204);
    const list = await get(service, "/pets", { headers: { origin } });
    assert.equal(list.status, 200);
    for (const { headers } of [preflight, list]) {
      assert.deepEqual([...headers.keys()].filter((name) => /^vary$|^access-control-/.test(name)), []);
    }
  }),

  decided("HEAD answers as GET does, without the body", async (service) => {
    const { id } = await add(service, { name: "Zoë" });
    for (const path of ["/pets", "/pets?limit=0", `/pets/${id}`, "/pets/0", "/nothing"]) {
      for (const question of ANYBODY.asks) {
        const got = await get(service, path, question);
        const head = await ask(service, "HEAD", path, question);
        assert.equal(head.status, got.status, path);
        assert.equal(head.text, "");
        assert.ok(got.text !== "", `GET ${path} has no body`);
        assert.equal(head.headers.get("content-length"), String(bytes(got.text).byteLength));
        assert.deepEqual(fields(head), fields(got));
      }
    }
  }),

  decided("unknown query parameters are ignored", async (service) => {
    await add(service);
    const plain = await get(service, "/pets");
    assert.ok(own.petsIn(plain).length > 0, "the list is empty");
    for (const query of ["?", "?Limit=0&sort=a&sort=b", "?=0&&", "??limit=0"]) {
      const answer = await get(service, `/pets${query}`);
      assert.equal(answer.status, 200, query);
      assert.equal(answer.text, plain.text);
    }
  }),

  decided("unknown body members are ignored and not kept", async (service) => {
    const name = newName();
    const pet = own.petIn(await create(service,
      `{"id":-77,"tags":["a"],"name":"${name}","categoryId":1,"toString":null,"__proto__":{"status":"sold"}}`), 201);
    assert.ok(pet.id > 0n, `id ${pet.id}`);
    assert.deepEqual(pet, { id: pet.id, name, categoryId: 1n, status: "available" });
  }),

  decided("a repeated limit, status or after is 400",
    answers(400, ["GET /pets?limit=5&limit=5"], { says: ["limit"] }),
    answers(400, ["GET /pets?status=sold&status=sold"], { says: ["status"] }),
    answers(400, ["GET /pets?after=1&x=&after=2"], { says: ["after"] })),

  // ---- The order of checks ----
  decided("the key is checked before the body and the query are",
    answers(401, ["GET /pets?limit=0", `POST /pets ${TOO_MUCH}`], WRONG_KEY),
    answers(401, [`POST /pets ${TOO_MUCH}`], { asks: [{ headers: { authorization: "Bearer wrong", "content-type": "text/plain" } }] })),

  decided("nobody without a key learns whether an animal exists", async (service) => {
    const { id } = await add(service);
    const there = await get(service, `/pets/${id}`, KEYLESS);
    reply.assertRefused(there, 401);
    for (const petId of [INT64_MAX, "x"]) {
      const other = await get(service, `/pets/${petId}`, KEYLESS);
      assert.equal(other.status, 401);
      assert.equal(other.text, there.text);
      assert.deepEqual(fields(other), fields(there));
    }
  }),

  decided("the media type is checked before the size, the size before the content",
    answers(415, [`POST /pets ${TOO_MUCH}`], { asks: [typed("text/plain")] }),
    answers(413, [`POST /pets ${TOO_MUCH}`])),

  // ---- Listing ----
  { ...decided("listPets answers an empty array where there is no animal", async (service) => {
      const answer = await get(service, "/pets");
      assert.equal(answer.text, "[]");
      assert.equal(answer.headers.get("link"), null);
    }),
    outside: "the store may have animals" },

  stated("listPets answers an array of animals", async (service) => {
    for (const pet of [await add(service, { status: "sold" }), await add(service)]) {
      assert.ok(own.petsIn(await get(service, "/pets")).length > 0, "the list is empty");
      assert.deepEqual(await named(service, pet.name), [pet]);
    }
  }),

  decided("listPets answers ascending by id, in order of creation; ids are positive", async (service) => {
    const name = newName();
    const pets: own.Pet[] = [];
    for (const categoryId of [2, 1, 3]) pets.push(await add(service, { name, categoryId }));
    assert.deepEqual(await named(service, name), pets);
    const page = ids(await get(service, "/pets?limit=100"));
    assert.deepEqual([0n, ...page], [0n, ...page].sort(order));
    for (const [query, size] of [["", 20], ["?limit=2", 2]] as const) {
      assert.deepEqual(ids(await get(service, `/pets${query}`)), page.slice(0, size));
    }
  }),

  stated("listPets answers 20 animals where no limit is sent", async (service) => {
    await addMany(service, 21);
    assert.equal(new Set(ids(await get(service, "/pets"))).size, 20);
  }),

  decided("listPets refuses a limit out of bounds or not in canonical decimal form",
    ...["0", "101", "1e1", "%2B5", "05", "10.0", "", "%205"].map((limit) =>
      answers(400, [`GET /pets?limit=${limit}`], { says: ["limit", "1", "100", decodeURIComponent(limit)] })),
    answers(400, ["GET /pets?limit", "GET /pets?limit=+5"], { says: ["limit"] })),
  decided("one message names every parameter that is wrong",
    answers(400, ["GET /pets?limit=0&status=gone&after=x"], { says: ["limit", "0", "status", "gone", "after", "x"] })),

  stated("listPets filters by each status", async (service) => {
    const name = newName();
    const pets: own.Pet[] = [];
    for (const status of [...STATUSES, "pending"]) pets.push(await add(service, { name, status }));
    for (const status of STATUSES) {
      const page = own.petsIn(await get(service, `/pets?status=${status}`));
      assert.deepEqual(page.filter((pet) => pet.status !== status), []);
      const found = (await named(service, name, `&status=${status}`)).map(({ id }) => id);
      assert.deepEqual(found.sort(order), pets.filter((pet) => pet.status === status).map(({ id }) => id).sort(order));
    }
  }),

  decided("listPets refuses a status that is none of the three",
    answers(400, ["", "Sold", "gone", "available,sold"].map((status) => `GET /pets?status=${status}`), { says: ["status", ...STATUSES] })),

  decided("listPets answers the animals above after", async (service) => {
    const [a = 0n, b = 0n, c = 0n] = await addMany(service, 3);
    const found = async (after: bigint | string) => ids(await get(service, `/pets?after=${after}`));
    assert.deepEqual(await found(a - 1n), [a, b, c]);
    assert.deepEqual(await found(a), [b, c]);
    assert.deepEqual(await found(c), []);
    assert.deepEqual(await found(INT64_MAX), []);
    const all = ids(await get(service, "/pets"));
    for (const after of ["0", "-1", INT64_MIN]) assert.deepEqual(await found(after), all);
  }),

  decided("listPets refuses an after that is no int64 in canonical form",
    answers(400, ["", "x", "1.0", "%2B1", "01", "9223372036854775808"].map((after) => `GET /pets?after=${after}`), { says: ["after"] })),

  decided("listPets links the next page exactly when more animals match", async (service) => {
    const [a = 0n] = await addMany(service, 3);
    await add(service, { status: "sold" });
    const isLinked = async (query: string, after = a - 1n) => {
      const answer = await get(service, `/pets?${query}&after=${after}`);
      return own.petsIn(answer).length > 0 && answer.headers.has("link");
    };
    assert.equal(await isLinked("limit=3"), true);
    assert.equal(await isLinked("limit=4"), false);
    assert.equal(await isLinked("limit=5"), false);
    // Three available ones: the fourth animal is sold, and does not count.
    assert.equal(await isLinked("limit=3&status=available"), false);
    assert.equal(await isLinked("limit=2&status=available"), true);
    assert.equal(await isLinked("limit=1&status=sold"), false);
    assert.equal(await isLinked("limit=3", a), false);
    await addMany(service, 17);
    assert.equal(await isLinked(""), true); // 20 of 21
  }),

  decided("the next page keeps limit and status and drops what was ignored", async (service) => {
    const [a = 0n] = await addMany(service, 3);
    const from = `${service.base}/pets?status=available&limit=1&sort=name&after=${a - 1n}`;
    const next = linked(await get(service, from), { rel: "next", from });
    const [path, query] = next?.split("?") ?? [];
    assert.equal(path, `${service.base}/pets`);
    assert.deepEqual(query?.split("&").sort(), [`after=${a}`, "limit=1", "status=available"]);
  }),

  // ---- Animals ----
  decided("a name has 1 to 255 code points and is kept exactly", async (service) => {
    // The fourth is not composed to Zoë.
    for (const name of [" ", "🐕".repeat(255), "\u0080\u009f\u2028\ufeff\ufffd\u200b", "Zoe\u0308", '"\\/']) {
      const pet = await add(service, { name });
      assert.equal(pet.name, name);
      assert.equal(own.petIn(await get(service, `/pets/${pet.id}`), 200).name, name);
    }
  }),

  ...REFUSED_MEMBERS.map(([by, what, member, values]) =>
    by(`createPet refuses ${what}`, answers(400, values.map((value) => `POST /pets ${bodyWith(member, value)}`)))),

  decided("a 400 names the member that is wrong, and no other", async (service) => {
    for (const [, , member, values] of REFUSED_MEMBERS) {
      for (const value of values) {
        const message = reply.assertRefused(await create(service, bodyWith(member, value)), 400);
        const names = ["name", "categoryId", "status"].filter((name) => message.includes(name));
        assert.deepEqual(names, [member], message);
      }
    }
  }),

  stated("createPet takes a surrogate pair however it is spelled", async (service) => {
    assert.equal(own.petIn(await create(service, '{"name":"\\uD83D\\udc15","categoryId":1}'), 201).name, "🐕");
  }),

  stated("a categoryId is any int64, exact to the last digit in, stored and out", async (service) => {
    for (const categoryId of ["1", "-1", "9007199254740993", INT64_MAX, INT64_MIN, "-9007199254740993", "9223372036854775806", "0"]) {
      const created = own.petIn(await create(service, bodyWith("categoryId", categoryId)), 201);
      assert.equal(created.categoryId, BigInt(categoryId));
      assert.deepEqual(own.petIn(await get(service, `/pets/${created.id}`), 200), created);
      assert.deepEqual(await named(service, created.name), [created]);
    }
  }),

  decided("a categoryId is an integer however JSON spells it", async (service) => {
    for (const [spelling = "", value] of [["1.0", "1"], ["1e2", "100"], ["-0", "0"], ["922337203685477580.7e1", INT64_MAX]]) {
      const answer = await create(service, bodyWith("categoryId", spelling));
      assert.equal(answer.status, 201, spelling);
      assert.match(answer.text, RegExp(`"categoryId": ?${value}[,}]`));
    }
  }),

  stated("getPet answers the animal", async (service) => {
    await add(service);
    const pet = await add(service, { categoryId: 2, status: "sold" });
    assert.deepEqual(own.petIn(await get(service, `/pets/${pet.id}`), 200), pet);
  }),

  stated("getPet answers 404 where there is none with the id",
    answers(200, ["GET /pets/{id}"]),
    answers(404, ["GET /pets/0", "GET /pets/-1", `GET /pets/${INT64_MAX}`])),
  decided("getPet answers 404 where the id is no int64 in canonical form",
    answers(404, ["0{id}", "{id}.0", "+{id}", "%30{id}", "{id}%30", "x", "9223372036854775808", "1".repeat(2000), "%", "%FF"]
      .map((petId) => `GET /pets/${petId}`))),

  // ---- Creating ----
  stated("createPet answers 201 with the animal and a new id", async (service) => {
    const seen = new Set<bigint>();
    for (const status of STATUSES) {
      const sent = { name: `${newName()}, Zoë 🐕`, categoryId: 7, status };
      const { id, name, categoryId, ...pet } = await add(service, sent);
      assert.deepEqual({ name, categoryId, status: pet.status }, { ...sent, categoryId: 7n });
      seen.add(id);
    }
    assert.equal(seen.size, 3, "an id was given twice");
  }),

  decided("an animal whose status is left out is available", async (service) => {
    assert.equal((await add(service)).status, "available");
  }),

  decided("createPet answers 201 with the address of the animal", async (service) => {
    await add(service);
    const answer = await create(service, bodyOf());
    const { id } = own.petIn(answer, 201);
    const location = answer.headers.get("location");
    assert.ok(location !== null, "there is no Location");
    const address = new URL(location, `${service.base}/pets`).href;
    assert.equal(address, `${service.base}/pets/${id}`);
    assert.equal((await get(service, address)).text, answer.text);
  }),

  decided("createPet takes application/json in any case, or no Content-Type",
    answers(201, [CREATE], { asks: [undefined, "Application/JSON", 'application/json ; charset="UTF-8"'].map(typed) })),
  decided("createPet refuses any other media type with 415 and Accept",
    answers(415, [CREATE], { asks: ["text/plain", "application/json; charset=utf-16"].map(typed), fields: { accept: "application/json" } })),
  decided("createPet refuses a Content-Encoding other than identity with 415",
    answers(415, [CREATE], { asks: ["gzip", "identity, gzip"].map(encoded), fields: { accept: "application/json" } }),
    answers(201, [CREATE], { asks: [encoded("Identity")] })),

  decided("createPet refuses bytes that are not UTF-8", async (service) => {
    const name = newName();
    // The second is overlong, the third a surrogate.
    for (const sequence of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
      const body = [...bytes(`{"name":"${name}","categoryId":1,"x":"`), ...sequence, ...bytes('"}')];
      reply.assertRefused(await create(service, new Uint8Array(body)), 400);
    }
    assert.deepEqual(await named(service, name), []);
  }),

  decided("createPet takes a body of 64 KiB, and refuses one byte more with 413", async (service) => {
    const full = bodyOf().padEnd(65_536);
    assert.equal((await create(service, full)).status, 201);
    reply.assertRefused(await create(service, full + " "), 413);
  }),

  decided("createPet counts bytes, not characters, and takes a body in pieces", async (service) => {
    const stream = (total: number): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start(controller) {
          const body = bytes(bodyOf().padEnd(total));
          for (let at = 0; at < total; at += 1000) controller.enqueue(body.slice(at, at + 1000));
          controller.close();
        },
      });
    assert.equal((await create(service, stream(65_536))).status, 201);
    reply.assertRefused(await create(service, stream(65_537)), 413);
    reply.assertRefused(await create(service, bodyOf({ x: "é".repeat(33_000) })), 413);
  }),

  decided("one 400 names each member that is wrong",
    answers(400, ['POST /pets {"name":"","categoryId":1.5,"status":"gone"}'], { says: ["name", "categoryId", "status"] }),
    answers(400, ["POST /pets {}"], { says: ["name", "categoryId"] })),

  { ...decided("a message says what is wrong", async (service) => {
      const says = async (body: string | Uint8Array, words: RegExp) => {
        const answer = await create(service, body);
        assert.match(reply.assertRefused(answer, answer.status), words);
      };
      for (const [, , member, values, reason = ""] of REFUSED_MEMBERS) {
        for (const value of values) await says(bodyWith(member, value), RegExp(`${member} .*${reason}`));
      }
      await says('{"name":"","categoryId":1.5,"status":"gone"}',
        /name .*empty.*categoryId .*integer.*status .*one of available, pending, sold/);
      await says("{}", /name is required.*categoryId is required/);
      await says(Uint8Array.of(0xff), /UTF-8/);
      await says(TOO_MUCH, /65536/);
    },
    answers(400, ["GET /pets?limit=0&status=gone&after=x"],
      { says: ["1 to 100", '"0"', "available, pending, sold", '"gone"', '"x"'] }),
    answers(400, ["GET /pets?limit=5&limit=5&status=sold&status=sold&after=1&after=1"],
      { says: ["limit must be one", "status must be one", "after must be one", "not 2 values"] })),
    outside: "each service words its messages itself" },

  stated("a body that is missing, or no JSON object, or lacks a field is 400",
    answers(400, ["", "{", "null", "{}", '{"name":"{name}"}', '{"categoryId":1}', `[${REX}]`, REX + REX,
      '{"name":"{name}","categoryId":01}', `{"__proto__":${REX}}`].map((body) => `POST /pets ${body}`),
      { asks: [{}, typed("application/json")] })),
  decided("a body that is nested deeply is 400, too",
    answers(400, [`POST /pets ${"[".repeat(30_000)}${"]".repeat(30_000)}`])),

  // ---- Errors and authentication ----
  stated("no key is 401 with an Error body, whatever the operation",
    answers(401, OPERATIONS, { asks: [KEYLESS, authorized("Basic dTpw")] })),
  decided("no key is 401 with a challenge and without an error code",
    answers(401, OPERATIONS, {
      asks: [KEYLESS, authorized("Bearer"), authorized("Basic dTpw")],
      fields: { "www-authenticate": 'Bearer realm="petstore"' },
    })),

  stated("a wrong key is 401 with an Error body, whatever the operation", answers(401, OPERATIONS, WRONG_KEY),
    async (service) => {
      const { key } = service;
      for (const token of [`${key}x`, key.slice(0, -1), `${key},${key}`]) {
        const answer = await get(service, "/pets", authorized(`Bearer ${token}`));
        reply.assertRefused(answer, 401);
        assert.ok(!answer.text.includes(token), "the answer has what was sent");
      }
    }),

  decided("a wrong key is 401 with the code invalid_token",
    answers(401, OPERATIONS, { ...WRONG_KEY, fields: { "www-authenticate": 'Bearer realm="petstore", error="invalid_token"' } })),

  decided("the scheme name is case-insensitive", async (service) => {
    for (const scheme of ["bEaReR", "Bearer  "]) {
      const answer = await get(service, "/pets", authorized(`${scheme} ${service.key}`));
      assert.equal(answer.status, 200, scheme);
    }
  }),

  stated("a key in the query or the body opens nothing", async (service) => {
    const path = `/pets?access_token=${encodeURIComponent(service.key)}`;
    reply.assertRefused(await get(service, path, KEYLESS), 401);
  }),

  decided("an error has one of the codes, and code, message and status alone", async (service) => {
    for await (const answer of answersOfAllKinds(service)) {
      if (answer.status >= 400) reply.assertErrorBody(answer);
    }
  }),

  decided("every response of JSON says so, and is neither guessed at nor kept", async (service) => {
    for await (const { headers } of answersOfAllKinds(service)) reply.assertJsonHeaders(headers);
  }),

  // ---- Deprecation ----
  decided("every response of getPet says that it is deprecated", async (service) => {
    const from = `${service.base}/pets/${(await add(service)).id}`;
    const asked: [status: number, method: string, address: string, question: Question][] = [
      [200, "GET", from, {}],
      [200, "HEAD", from, {}],
      [404, "GET", `/pets/${INT64_MAX}`, {}],
      [404, "GET", "/pets/x", {}],
      [401, "GET", from, KEYLESS],
    ];
    for (const [status, ...request] of asked) {
      const answer = await ask(service, ...request);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("sunset"), "Thu, 05 Dec 2030 00:00:00 GMT");
      assert.equal(answer.headers.get("deprecation"), "@1764892800");
      assert.equal(linked(answer, { rel: "successor-version", from }), `${service.base}/pets`);
    }
  }),

  // ---- What needs many animals: after it, a listing without a next page hides those of other clauses ----
  stated("listPets takes a limit from 1 to 100", async (service) => {
    await addMany(service, 101);
    for (const limit of [1, 21, 100]) {
      assert.equal(new Set(ids(await get(service, `/pets?limit=${limit}`))).size, limit);
    }
  }),
];

/** Makes questions of the values of a field; `undefined` leaves it out. */
function sending(field: string): (value: string | undefined) => Question {
  return (value) => ({ headers: { [field]: value } });
}

/** A create with one member as it is given, as JSON, and the others as they should be. */
function bodyWith(member: string, value: string): string {
  const pet = { name: `"${newName()}"`, categoryId: "1", [member]: value };
  return `{${Object.entries(pet).map(([key, text]) => `"${key}":${text}`)}}`;
}

/** Adds pets, and returns their ids. */
async function addMany(service: OpenService, count: number): Promise<bigint[]> {
  const added: bigint[] = [];
  while (added.length < count) added.push((await add(service)).id);
  return added;
}

/** Answers of all operations, and the errors that `fetch` can bring about. */
async function* answersOfAllKinds(
  service: OpenService,
): AsyncGenerator<Answer> {
  yield await create(service, bodyOf());
  yield await get(service, "/pets");
  yield await get(service, `/pets/${(await add(service)).id}`);
  yield await create(service, "{}");
  yield await get(service, "/pets", KEYLESS);
  yield await get(service, `/pets/${INT64_MAX}`);
  yield await ask(service, "PUT", "/pets");
  yield await create(service, TOO_MUCH);
  yield await create(service, bodyOf(), { "content-type": "text/plain" });
}

function ids(answer: Answer): bigint[] {
  return own.petsIn(answer).map(({ id }) => id);
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The fields that `handle` sets; servers add others (`Date`, `Connection`, …). */
function fields({ headers }: Answer): Record<string, string | null> {
  const names = "allow cache-control content-type deprecation link location " +
    "sunset www-authenticate x-content-type-options";
  return Object.fromEntries(
    names.split(" ").map((name) => [name, headers.get(name)]),
  );
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
