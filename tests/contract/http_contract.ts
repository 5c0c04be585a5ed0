/**
 * What the service promises over HTTP: a clause for each sentence of the interface, and for each row of
 * the tables in docs/contract.md. They judge anything with a base address: `handle` itself, servers on
 * every runtime, and pet stores of other people.
 *
 * What `fetch` cannot send is in `raw_http_contract.ts`.
 */

import assert from "node:assert/strict";
import { answers, CREATE, each, REX } from "./answers.ts";
import { ask, linked } from "./ask.ts";
import type { Answer, OpenService, Question } from "./ask.ts";
import { type Clause, it } from "./clause.ts";
import * as reply from "./error_reply.ts";
import * as own from "./own_pets.ts";
import { add, bodyOf, create, get, named, newName } from "./own_pets.ts";

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const BEYOND = INT64_MAX + 1n;
/** Beyond what a double has exactly. */
const ODD = 2n ** 53n + 1n;
const EXACT = [1n, -1n, ODD, -ODD, INT64_MAX, INT64_MIN, INT64_MAX - 1n, 0n];
const STATUSES = ["available", "pending", "sold"];
const MEMBERS = ["name", "categoryId", "status"];
const ALL_WRONG = '{"name":"","categoryId":1.5,"status":"gone"}';
const OPERATIONS = ["GET /pets", CREATE, "GET /pets/{id}"];
const ON_PETS = { fields: { allow: "GET, HEAD, POST, OPTIONS" } };
const ON_PET = { fields: { allow: "GET, HEAD, OPTIONS" } };
const authorized = sending("authorization");
const typed = sending("content-type");
const encoded = sending("content-encoding");
const KEYLESS = authorized(undefined);
const ANYBODY = { asks: [{}, KEYLESS] };
const WRONG = { authorization: "Bearer wrong" };
const WRONG_KEY = { asks: [{ headers: WRONG }] };
const CHALLENGE = 'Bearer realm="petstore"';
const AS_JSON = { asks: [{}, typed("application/json")] };
const TOO_MUCH = "x".repeat(65_537); // by one byte
const CREATE_TOO_MUCH = `POST /pets ${TOO_MUCH}`;

// deno-fmt-ignore -- a table
/** Values of a member that createPet refuses, as JSON; and how our message says why. */
const REFUSED_MEMBERS: readonly (readonly [by: typeof it.stated, what: string, member: string, values: readonly string[], reason?: string])[] = [
  [it.stated, "a status that is none of the three", "status", ['""', '"Sold"']],
  [it.stated, "a status that is not a string", "status", ["null", '["sold"]']],
  [it.stated, "a name that is not a string", "name", ["null", "7"]],
  [it.decided, "a name that is empty", "name", ['""'], "empty"],
  [it.decided, "a name that is too long", "name", [`"${"x".repeat(256)}"`, `"${"🐕".repeat(256)}"`]],
  [it.decided, "control characters in a name", "name", ['"R\\u0000x"', '"R\\u001fx"', '"R\\u007fx"'], "control"],
  [it.decided, "a lone surrogate", "name", ['"\\udc15\\ud83d"'], "surrogate"],
  [it.decided, "half a pair", "name", ['"\\ud83d"'], "surrogate"],
  [it.stated, "a categoryId with a fraction", "categoryId", ["1.5"], "integer"],
  [it.stated, "a categoryId beyond int64", "categoryId", ["9223372036854775808", "1e400"]],
  [it.stated, "a categoryId that is not a number", "categoryId", ['"1"', "null"]],
];

/** The clauses. */
export const HTTP_CLAUSES: readonly Clause[] = [
  // ---- Requests and routing ----
  it.decided(
    "an unknown path, also one that is named but not described, is 404 for any method, key or none",
    answers(404, [
      "GET /store/orders",
      "DELETE /store/orders",
      "OPTIONS /store/orders",
    ], ANYBODY),
  ),
  it.decided(
    "paths are exact and case-sensitive",
    answers(200, ["GET /pets", "GET /pets/{id}"]),
    answers(404, each("GET ", "/pets/", "//pets", "/PETS", "/petsx", "", "/")),
    answers(404, each("GET ", "/pets%2F{id}", "/pets//{id}")),
    answers(404, each("GET /pets/{id}/", "", "x")),
    answers(404, each("GET {above}/", "pets", "v2/pets", "V1/pets")),
  ),
  it.decided(
    "another method on a known path is 405 with Allow, key or none",
    answers(405, ["PUT /pets"], { ...ANYBODY, ...ON_PETS }),
    answers(405, ["POST /pets/{id}"], { ...ANYBODY, ...ON_PET }),
  ),
  it.decided(
    "OPTIONS on a known path is 204 with Allow and needs no key",
    answers(204, ["OPTIONS /pets"], { ...ANYBODY, ...ON_PETS }),
    answers(204, ["OPTIONS /pets/{id}"], { ...ANYBODY, ...ON_PET }),
  ),

  it.decided("a page of another origin is told nothing: CORS is off, and no response has a field of it", async (service) => {
    const headers = { origin: "https://app.example.com" };
    const preflight = { ...headers, "access-control-request-method": "POST" };
    const answered = [
      await ask(service, "OPTIONS", "/pets", { headers: preflight }),
      await get(service, "/pets", { headers }),
    ];
    assert.deepEqual(answered.map(({ status }) => status), [204, 200]);
    for (const { headers } of answered) {
      const names = [...headers.keys()].join("\n");
      assert.doesNotMatch(names, /^(?:vary$|access-control-)/m);
    }
  }),

  it.decided("HEAD answers as GET does, without the body", async (service) => {
    const { id } = await add(service, { name: "Zoë" });
    for (const rest of ["", "?limit=0", `/${id}`, "/0", "/0/nothing"]) {
      const path = `/pets${rest}`;
      for (const question of ANYBODY.asks) {
        const got = await get(service, path, question);
        const head = await ask(service, "HEAD", path, question);
        assert.equal(head.status, got.status, path);
        assert.equal(head.text, "");
        assert.ok(got.text !== "", `GET ${path} has no body`);
        const { byteLength } = bytes(got.text);
        assert.equal(head.headers.get("content-length"), `${byteLength}`);
        assert.deepEqual(fields(head), fields(got));
      }
    }
  }),

  it.decided("unknown query parameters are ignored", async (service) => {
    await add(service);
    const plain = await get(service, "/pets");
    assert.ok(own.petsIn(plain).length > 0, "the list is empty");
    for (const query of ["?", "?Limit=0&sort=a&sort=b", "?=0&&", "??limit=0"]) {
      const answer = await get(service, `/pets${query}`);
      assert.equal(answer.status, 200, query);
      assert.equal(answer.text, plain.text);
    }
  }),

  it.decided("unknown body members are ignored and not kept", async (service) => {
    const name = newName();
    const more = '"tags":["a"],"toString":null,"__proto__":{"status":"sold"}';
    const body = `{"id":-77,"name":"${name}","categoryId":1,${more}}`;
    const { id, ...pet } = own.petIn(await create(service, body), 201);
    assert.ok(id > 0n, `id ${id}`);
    assert.deepEqual(pet, { name, categoryId: 1n, status: "available" });
  }),

  it.decided(
    "a repeated limit, status or after is 400",
    answers(400, ["GET /pets?limit=5&limit=5"], { says: ["limit"] }),
    answers(400, ["GET /pets?status=sold&status=sold"], { says: ["status"] }),
    answers(400, ["GET /pets?after=1&x=&after=2"], { says: ["after"] }),
  ),

  // ---- The order of checks ----
  it.decided(
    "the key is checked before the body and the query are",
    answers(401, ["GET /pets?limit=0", CREATE_TOO_MUCH], WRONG_KEY),
    answers(401, [CREATE_TOO_MUCH], {
      asks: [{ headers: { ...WRONG, "content-type": "text/plain" } }],
    }),
  ),

  it.decided("nobody without a key learns whether an animal exists", async (service) => {
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

  it.decided(
    "the media type is checked before the size, the size before the content",
    answers(415, [CREATE_TOO_MUCH], { asks: [typed("text/plain")] }),
    answers(413, [CREATE_TOO_MUCH]),
  ),

  // ---- Listing ----
  {
    ...it.decided("listPets answers an empty array if there is no animal", async (service) => {
      const answer = await get(service, "/pets");
      assert.equal(answer.text, "[]");
      assert.equal(answer.headers.get("link"), null);
    }),
    outside: "the store may have animals",
  },

  it.stated("listPets answers an array of animals", async (service) => {
    for (const pet of await own.addAll(service, [{ status: "sold" }, {}])) {
      assert.ok((await own.ids(service)).length > 0, "the list is empty");
      assert.deepEqual(await named(service, pet.name), [pet]);
    }
  }),

  it.decided("listPets answers ascending by id, in order of creation; ids are positive", async (service) => {
    const name = newName();
    const members = [2, 1, 3].map((categoryId) => ({ name, categoryId }));
    const pets = await own.addAll(service, members);
    assert.deepEqual(await named(service, name), pets);
    const page = await own.ids(service, "?limit=100");
    assert.deepEqual([0n, ...page], [0n, ...page].sort(order));
    assert.deepEqual(await own.ids(service), page.slice(0, 20));
    assert.deepEqual(await own.ids(service, "?limit=2"), page.slice(0, 2));
  }),

  it.stated("listPets answers 20 animals if no limit is sent", async (service) => {
    await addMany(service, 21);
    assert.equal(new Set(await own.ids(service)).size, 20);
  }),

  it.decided(
    "listPets refuses a limit out of bounds or not in canonical decimal form",
    ...["0", "101", "1e1", "%2B5", "05", "10.0", "", "%205"].map((limit) =>
      answers(400, [`GET /pets?limit=${limit}`], {
        says: ["limit", "1", "100", decodeURIComponent(limit)],
      })
    ),
    answers(400, each("GET /pets?limit", "", "=+5"), { says: ["limit"] }),
  ),
  it.decided(
    "one message names every parameter that is wrong",
    answers(400, ["GET /pets?limit=0&status=gone&after=x"], {
      says: ["limit", "0", "status", "gone", "after", "x"],
    }),
  ),

  it.stated("listPets filters by each status", async (service) => {
    const name = newName();
    const all = [...STATUSES, "pending"].map((status) => ({ name, status }));
    const pets = await own.addAll(service, all);
    for (const status of STATUSES) {
      const has = (pet: own.Pet) => pet.status === status;
      const page = own.petsIn(await get(service, `/pets?status=${status}`));
      assert.deepEqual(page.filter((pet) => !has(pet)), []);
      const found = await named(service, name, `&status=${status}`);
      assert.deepEqual(sortedIds(found), sortedIds(pets.filter(has)));
    }
  }),

  it.decided(
    "listPets refuses a status that is none of the three",
    answers(400, each("GET /pets?status=", "", "Sold", "x", "available,sold"), {
      says: ["status", ...STATUSES],
    }),
  ),

  it.decided("listPets answers the animals above after", async (service) => {
    const [a = 0n, b = 0n, c = 0n] = await addMany(service, 3);
    const found = (after: bigint) => own.ids(service, `?after=${after}`);
    assert.deepEqual(await found(a - 1n), [a, b, c]);
    assert.deepEqual(await found(a), [b, c]);
    assert.deepEqual(await found(c), []);
    assert.deepEqual(await found(INT64_MAX), []);
    const all = await own.ids(service);
    for (const after of [0n, -1n, INT64_MIN]) {
      assert.deepEqual(await found(after), all);
    }
  }),

  it.decided(
    "listPets refuses an after that is not an int64 in canonical form",
    answers(400, each("GET /pets?after=", "", "x", "1.0", "%2B1", "01"), {
      says: ["after"],
    }),
    answers(400, [`GET /pets?after=${BEYOND}`], { says: ["after"] }),
  ),

  it.decided("listPets links the next page exactly when more animals match", async (service) => {
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

  it.decided("the next page keeps limit and status and drops what was ignored", async (service) => {
    const [a = 0n] = await addMany(service, 3);
    const query = `status=available&limit=1&sort=name&after=${a - 1n}`;
    const from = `${service.base}/pets?${query}`;
    const next = linked(await get(service, from), { rel: "next", from });
    const [path, kept] = next?.split("?") ?? [];
    assert.equal(path, `${service.base}/pets`);
    const expected = [`after=${a}`, "limit=1", "status=available"];
    assert.deepEqual(kept?.split("&").sort(), expected);
  }),

  // ---- Animals ----
  it.decided("a name has 1 to 255 code points and is kept exactly", async (service) => {
    const odd = "\u0080\u009f\u2028\ufeff\ufffd\u200b";
    // The fourth is not composed to Zoë.
    for (const name of [" ", "🐕".repeat(255), odd, "Zoe\u0308", '"\\/']) {
      const pet = await add(service, { name });
      assert.equal(pet.name, name);
      assert.equal((await own.petAt(service, pet.id)).name, name);
    }
  }),

  ...REFUSED_MEMBERS.map(([by, what, member, values]) =>
    by(`createPet refuses ${what}`, answers(400, createsWith(member, values)))
  ),

  it.decided("a 400 names the member that is wrong, and no other", async (service) => {
    for (const [, , member, values] of REFUSED_MEMBERS) {
      for (const value of values) {
        const answer = await create(service, bodyWith(member, value));
        const message = reply.assertRefused(answer, 400);
        const names = MEMBERS.filter((name) => message.includes(name));
        assert.deepEqual(names, [member], message);
      }
    }
  }),

  it.stated("createPet takes a surrogate pair however it is spelled", async (service) => {
    const answer = await create(service, bodyWith("name", '"\\uD83D\\udc15"'));
    assert.equal(own.petIn(answer, 201).name, "🐕");
  }),

  it.stated("a categoryId is any int64, exact to the last digit in, stored and out", async (service) => {
    const all: own.Pet[] = [];
    for (const categoryId of EXACT) {
      const body = bodyWith("categoryId", `${categoryId}`);
      const created = own.petIn(await create(service, body), 201);
      assert.equal(created.categoryId, categoryId);
      assert.deepEqual(await own.petAt(service, created.id), created);
      all.push(created);
    }
    // Last, because not every listing can be searched.
    for (const pet of all) {
      assert.deepEqual(await named(service, pet.name), [pet]);
    }
  }),

  it.decided("a categoryId is an integer however JSON spells it", async (service) => {
    const great = "922337203685477580.7e1";
    const values = { "1.0": 1, "1e2": 100, "-0": 0, [great]: INT64_MAX };
    for (const [spelling, value] of Object.entries(values)) {
      const answer = await create(service, bodyWith("categoryId", spelling));
      assert.equal(answer.status, 201, spelling);
      assert.match(answer.text, RegExp(`"categoryId": ?${value}[,}]`));
    }
  }),

  it.stated("getPet answers the animal", async (service) => {
    await add(service);
    const pet = await add(service, { categoryId: 2, status: "sold" });
    assert.deepEqual(await own.petAt(service, pet.id), pet);
  }),

  it.stated(
    "getPet answers 404 if no animal has the id",
    answers(200, ["GET /pets/{id}"]),
    answers(404, each("GET /pets/", "0", "-1", `${INT64_MAX}`)),
  ),
  it.decided(
    "getPet answers 404 if the id is not an int64 in canonical form",
    answers(404, each("GET /pets/", "0{id}", "{id}.0", "+{id}")),
    answers(404, each("GET /pets/", "x", `${BEYOND}`, "%", "%FF")),
    answers(404, [`GET /pets/${"1".repeat(2000)}`]),
  ),

  // ---- Creating ----
  it.stated("createPet answers 201 with the animal and a new id", async (service) => {
    const seen = new Set<bigint>();
    for (const status of STATUSES) {
      const sent = { name: `${newName()}, Zoë 🐕`, categoryId: 7, status };
      const { id, name, categoryId, ...pet } = await add(service, sent);
      const kept = { name, categoryId, status: pet.status };
      assert.deepEqual(kept, { ...sent, categoryId: 7n });
      seen.add(id);
    }
    assert.equal(seen.size, 3, "an id was given twice");
  }),

  it.decided("an animal whose status is left out is available", async (service) => {
    assert.equal((await add(service)).status, "available");
  }),

  it.decided("createPet answers 201 with the address of the animal", async (service) => {
    await add(service);
    const answer = await create(service, bodyOf());
    const { id } = own.petIn(answer, 201);
    const location = answer.headers.get("location");
    assert.ok(location !== null, "there is no Location");
    const address = new URL(location, `${service.base}/pets`).href;
    assert.equal(address, `${service.base}/pets/${id}`);
    assert.equal((await get(service, address)).text, answer.text);
  }),

  it.decided(
    "createPet takes application/json in any case, or no Content-Type",
    answers(201, [CREATE], {
      asks: [undefined, "Application/JSON"].map(typed),
    }),
    answers(201, [CREATE], {
      asks: [typed('application/json ; charset="UTF-8"')],
    }),
  ),
  it.decided(
    "createPet refuses any other media type with 415 and Accept",
    answers(415, [CREATE], {
      asks: ["text/plain", "application/json; charset=utf-16"].map(typed),
      fields: { accept: "application/json" },
    }),
  ),
  it.decided(
    "createPet refuses a Content-Encoding other than identity with 415",
    answers(415, [CREATE], {
      asks: ["gzip", "identity, gzip"].map(encoded),
      fields: { accept: "application/json" },
    }),
    answers(201, [CREATE], { asks: [encoded("Identity")] }),
  ),

  it.decided("createPet refuses bytes that are not UTF-8", async (service) => {
    const name = newName();
    // The second is overlong, the third a surrogate.
    for (const sequence of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
      const start = bytes(`{"name":"${name}","categoryId":1,"x":"`);
      const body = Uint8Array.of(...start, ...sequence, ...bytes('"}'));
      reply.assertRefused(await create(service, body), 400);
    }
    assert.deepEqual(await named(service, name), []);
  }),

  it.decided("createPet takes a body of 64 KiB, and refuses one byte more with 413", async (service) => {
    const full = bodyOf().padEnd(65_536);
    assert.equal((await create(service, full)).status, 201);
    reply.assertRefused(await create(service, full + " "), 413);
  }),

  it.decided("createPet counts bytes, not characters, and takes a body in pieces", async (service) => {
    const stream = (total: number): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start(controller) {
          const body = bytes(bodyOf().padEnd(total));
          for (let at = 0; at < total; at += 1000) {
            controller.enqueue(body.slice(at, at + 1000));
          }
          controller.close();
        },
      });
    assert.equal((await create(service, stream(65_536))).status, 201);
    reply.assertRefused(await create(service, stream(65_537)), 413);
    const wide = bodyOf({ x: "é".repeat(33_000) });
    reply.assertRefused(await create(service, wide), 413);
  }),

  it.decided(
    "one 400 names each member that is wrong",
    answers(400, [`POST /pets ${ALL_WRONG}`], { says: MEMBERS }),
    answers(400, ["POST /pets {}"], { says: ["name", "categoryId"] }),
  ),

  {
    ...it.decided(
      "a message says what is wrong",
      async (service) => {
        const says = async (body: string | Uint8Array, words: RegExp) => {
          const answer = await create(service, body);
          assert.match(reply.assertRefused(answer, answer.status), words);
        };
        for (const [, , member, values, reason = ""] of REFUSED_MEMBERS) {
          const words = RegExp(`${member} .*${reason}`);
          for (const value of values) {
            await says(bodyWith(member, value), words);
          }
        }
        await says(
          ALL_WRONG,
          /name .*empty.*categoryId .*integer.*status .*one of available, pending, sold/,
        );
        await says("{}", /name is required.*categoryId is required/);
        await says(Uint8Array.of(0xff), /UTF-8/);
        await says(TOO_MUCH, /65536/);
      },
      answers(400, ["GET /pets?limit=0&status=gone&after=x"], {
        says: ["1 to 100", '"0"', "available, pending, sold", '"gone"', '"x"'],
      }),
      answers(400, [
        "GET /pets?limit=5&limit=5&status=sold&status=sold&after=1&after=1",
      ], {
        says: [
          "limit must be one",
          "status must be one",
          "after must be one",
          "not 2 values",
        ],
      }),
    ),
    outside: "each service words its messages itself",
  },

  it.stated(
    "a body that is missing, is not a JSON object, or lacks a field is 400",
    answers(400, each("POST /pets ", "", "{", "null", "{}"), AS_JSON),
    answers(400, each("POST /pets ", `[${REX}]`, REX + REX), AS_JSON),
    answers(400, each("POST /pets ", '{"name":"{name}"}', '{"categoryId":1}')),
    answers(400, ['POST /pets {"name":"{name}","categoryId":01}']),
    answers(400, [`POST /pets {"__proto__":${REX}}`]),
  ),
  it.decided(
    "a body that is nested deeply is 400, too",
    answers(400, [`POST /pets ${"[".repeat(30_000)}${"]".repeat(30_000)}`]),
  ),

  // ---- Errors and authentication ----
  it.stated(
    "no key is 401 with an Error body, whatever the operation",
    answers(401, OPERATIONS, { asks: [KEYLESS, authorized("Basic dTpw")] }),
  ),
  it.decided(
    "no key is 401 with a challenge and without an error code",
    answers(401, OPERATIONS, {
      asks: [KEYLESS, authorized("Bearer"), authorized("Basic dTpw")],
      fields: { "www-authenticate": CHALLENGE },
    }),
  ),

  it.stated(
    "a wrong key is 401 with an Error body, whatever the operation",
    answers(401, OPERATIONS, WRONG_KEY),
    async (service) => {
      const { key } = service;
      for (const token of [`${key}x`, key.slice(0, -1), `${key},${key}`]) {
        const question = authorized(`Bearer ${token}`);
        const answer = await get(service, "/pets", question);
        reply.assertRefused(answer, 401);
        // A few letters may be there by chance.
        const isShown = token.length > 3 && answer.text.includes(token);
        assert.ok(!isShown, "the answer has what was sent");
      }
    },
  ),

  it.decided(
    "a wrong key is 401 with the code invalid_token",
    answers(401, OPERATIONS, {
      ...WRONG_KEY,
      fields: { "www-authenticate": `${CHALLENGE}, error="invalid_token"` },
    }),
  ),

  it.decided("the scheme name is case-insensitive", async (service) => {
    for (const scheme of ["bEaReR", "Bearer  "]) {
      const question = authorized(`${scheme} ${service.key}`);
      assert.equal((await get(service, "/pets", question)).status, 200, scheme);
    }
  }),

  it.stated("a key in the query or the body opens nothing", async (service) => {
    const path = `/pets?access_token=${encodeURIComponent(service.key)}`;
    reply.assertRefused(await get(service, path, KEYLESS), 401);
  }),

  it.decided("an error has one of the codes, and code, message and status alone", async (service) => {
    for await (const answer of answersOfAllKinds(service)) {
      if (answer.status >= 400) reply.assertErrorBody(answer);
    }
  }),

  it.decided("every JSON response says so, and forbids sniffing and caching", async (service) => {
    for await (const { headers } of answersOfAllKinds(service)) {
      reply.assertJsonHeaders(headers);
    }
  }),

  // ---- Deprecation ----
  it.decided("every response of getPet says that it is deprecated", async (service) => {
    const from = `${service.base}/pets/${(await add(service)).id}`;
    const asked = [
      [200, "GET", from, {}],
      [200, "HEAD", from, {}],
      [404, "GET", `/pets/${INT64_MAX}`, {}],
      [404, "GET", "/pets/x", {}],
      [401, "GET", from, KEYLESS],
    ] as const;
    for (const [status, method, address, question] of asked) {
      const answer = await ask(service, method, address, question);
      assert.equal(answer.status, status);
      const { headers } = answer;
      assert.equal(headers.get("sunset"), "Thu, 05 Dec 2030 00:00:00 GMT");
      assert.equal(headers.get("deprecation"), "@1764892800");
      const successor = linked(answer, { rel: "successor-version", from });
      assert.equal(successor, `${service.base}/pets`);
    }
  }),

  // ---- What needs many animals: after it, a listing without a next page hides those of other clauses ----
  it.stated("listPets takes a limit from 1 to 100", async (service) => {
    await addMany(service, 101);
    for (const limit of [1, 21, 100]) {
      const { size } = new Set(await own.ids(service, `?limit=${limit}`));
      assert.equal(size, limit);
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

/** Creates with each of these values of a member. */
function createsWith(member: string, values: readonly string[]): string[] {
  return values.map((value) => `POST /pets ${bodyWith(member, value)}`);
}

/** Adds pets, and returns their ids. */
async function addMany(service: OpenService, count: number): Promise<bigint[]> {
  const pets = await own.addAll(service, Array<object>(count).fill({}));
  return pets.map(({ id }) => id);
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

function sortedIds(pets: readonly own.Pet[]): bigint[] {
  return pets.map(({ id }) => id).sort(order);
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
