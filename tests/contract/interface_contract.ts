/**
 * The promises of the interface itself, each with a check that fails only if the promise is broken.
 *
 * A store is free where the interface says nothing: the range and order of ids, the order and
 * paging of a listing, further members, the status of a pet that was added without one, and the
 * answer to an invalid query. A store may also refuse a category or a name, but not change it.
 *
 * They are ordered by harm, from letting strangers in to pages of the wrong length: fix the first
 * failure first. Up to FILTERED, fewer than a hundred pets are added, so that a listing without a
 * next page still shows all of them.
 */

import assert from "node:assert/strict";
import type { Answer, Pet } from "./ask.ts";
import { assertRefused } from "./error_reply.ts";
import {
  type Check,
  type Clauses,
  newName,
  petIn,
  type PetsClient,
  petsIn,
  Unchecked,
} from "./pets_client.ts";
import {
  almost,
  anyFractions,
  anyIntegers,
  anyTexts,
  type Random,
  randomFrom,
} from "./values.ts";

const STATUSES = ["available", "pending", "sold"];
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Categories that 32 bits, or a double, would change. */
const CATEGORIES = [
  ...[0n, -1n, 2n ** 31n, 2n ** 32n + 1n, -(2n ** 31n) - 1n],
  ...[2n ** 53n + 1n, -(2n ** 53n) - 1n],
  ...[INT64_MAX, INT64_MAX - 1n, INT64_MIN, INT64_MIN + 1n],
];

/** Names that a store may refuse, but not trim, escape, normalise or cut. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => ` ${name}`,
  (name) => `${name} `,
  (name) => `${name}  x`,
  (name) => `${name}\u00a0`,
  (name) => `${name}100% x %s $& $$ {0} \\1`,
  (name) => `${name}<b>&amp;"'\\/\`;--%20+`,
  (name) => `${name}Zoe\u0308`, // decomposed; the next changes in every normal form
  (name) => `${name}\u212b\ufb01\u00e9`,
  (name) => `${name}🐕日本`,
  (name) => `${name}\u0080\u2028\ufeff\u200b\ufffd`,
  (name) => `${name}\u0001`,
  (name) => `${name}\t\nx`,
  (name) => `${name}${"🐕".repeat(100)}`,
  () => `0${randomId()}`,
  ...[33, 51, 101, 129, 255, 300, 1100].map((length) => (name: string) =>
    name.padEnd(length, "x")
  ),
];

/** Names that a store may refuse, but not read as a number, a date, or nothing. */
const WORDS = [
  ...["007", "1e3", "0x1F", "1_000", "-0", "2020-01-01", "12:30"],
  ...["null", "true", "no", "yes", "~", "NaN", "undefined", "[]", "{}"],
  ...["constructor", "__proto__", "toString"],
];

/** Characters as JSON may spell them. */
const SPELLINGS = [
  ...['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"],
  ...["\\u0041", "\\u005c", "\\u00e9", "\\u00E9", "\\u2028"],
  ...["\\ud83d\\udc15", "\\uD83D\\uDC15"],
];

/** Members and values that they must not have, as JSON, by kind. */
const REFUSED: Readonly<
  Record<
    string,
    readonly [member: string, values: (random: Random) => readonly string[]]
  >
> = {
  "a name that is not a string": ["name", () => [
    ...["null", "7", "true", "false", "[]", "{}", '["Rex"]', '{"x":"Rex"}'],
  ]],
  "a categoryId with a fraction": ["categoryId", (random) => [
    ...["1.5", "-0.5", "1e-1", "9007199254740992.5"],
    ...anyFractions(random),
  ]],
  "a categoryId beyond int64": ["categoryId", (random) => [
    ...["9223372036854775808", "-9223372036854775809"],
    ...["18446744073709551617", "1e19", "1e400"],
    ...anyIntegers(random).filter((id) => !isInt64(id)).map(String),
  ]],
  "a categoryId that is not a number": ["categoryId", () => [
    ...['"1"', '""', '"x"', "null", "true", "false", "[]", "[1]", "{}"],
  ]],
  "a status that is none of the three": ["status", (random) => [
    ...['""', '"Sold"', '"sold "', '"gone"', '"available,sold"'],
    ...['"constructor"', '"__proto__"', '"toString"', '"0"', '"1"', '"null"'],
    ...STATUSES.flatMap((status) => almost(status, random))
      .map((text) => JSON.stringify(text)),
  ]],
  "a status that is not a string": ["status", () => [
    ...["null", "7", "0", "1", "2", "true", "false", "1.5"],
    ...['["sold"]', "[]", "{}", '{"sold":true}'],
  ]],
};

type Checks = Readonly<Record<string, Check>>;

const KEYS: Checks = {
  async "no key is 401 with an Error body, whatever the operation"(client) {
    await assertUnauthorized(client, [{}, { authorization: "Basic dTpw" }]);
  },

  async "no key or a wrong one is 401, whatever else is wrong with the request"(
    client,
  ) {
    for (const authorization of [undefined, "Bearer wrong"]) {
      const key = { authorization };
      for (const id of client.isAfterRemoval ? [] : [randomId(), -randomId()]) {
        assertRefused(await client.get(`/pets/${id}`, key), 401);
      }
      for (const query of ["limit=0", "limit=x", "status=gone"]) {
        assertRefused(await client.get(`/pets?${query}`, key), 401);
      }
      for (const body of ["", "{", "[]", "{}", '{"name":7}']) {
        assertRefused(await client.post(body, key), 401);
      }
      const text = { ...key, "content-type": "text/plain" };
      assertRefused(await client.post("Rex", text), 401);
      assertRefused(await client.send("POST", "/pets", { headers: key }), 401);
    }
  },

  async "a wrong key is 401 with an Error body, whatever the operation"(
    client,
  ) {
    const { key } = client;
    const near = [`${key}x`, `x${key}`, key.slice(0, -1)];
    const tokens = [
      ...["wrong", "undefined", "null", "constructor", "__proto__", "*", "%"],
      ...["' OR '1'='1", ...near, `${key},${key}`, `${key} ${key}`],
    ];
    const wrong = tokens.map((token) => ({ authorization: `Bearer ${token}` }));
    await assertUnauthorized(client, wrong);
  },

  async "a key in another case is 401"(client) {
    const { key } = client;
    const cases = [key.toLowerCase(), key.toUpperCase()];
    const others = cases.filter((other) => other !== key)
      .map((other) => ({ authorization: `Bearer ${other}` }));
    if (others.length === 0) throw new Unchecked("the key has no letters");
    await assertUnauthorized(client, others);
  },

  async "a key without the scheme Bearer is 401"(client) {
    const { key } = client;
    const values = [
      ...["Basic", "Token", "ApiKey", "Bearerx"].map((name) =>
        `${name} ${key}`
      ),
      ...[`${key}:`, `:${key}`].map((user) => `Basic ${btoa(user)}`),
      ...[key, `Bearer${key}`, "Bearer"],
    ];
    const wrong = values.map((authorization) => ({ authorization }));
    await assertUnauthorized(client, wrong);
  },

  async "a key in the query or the body is not accepted"(client) {
    const { id } = await client.addPet();
    const none = { authorization: undefined };
    const names = [
      ...["access_token", "auth_token", "api_token", "token", "bearer"],
      ...["api_key", "api-key", "apikey", "apiKey", "API_KEY", "key"],
      ...["auth", "authorization", "Authorization", "secret"],
    ];
    for (const name of names) {
      const query = `${name}=${encodeURIComponent(client.key)}`;
      const one = client.isAfterRemoval ? [] : [`/pets/${id}`];
      for (const path of ["/pets", ...one]) {
        assertRefused(await client.get(`${path}?${query}`, none), 401);
      }
      const pet = client.petJson({ [name]: client.key });
      const sent = { body: pet, headers: none };
      assertRefused(await client.send("POST", "/pets", sent), 401);
      assertRefused(await client.send("POST", `/pets?${query}`, sent), 401);
    }
    const form = {
      ...none,
      "content-type": "application/x-www-form-urlencoded",
    };
    const sent = new URLSearchParams({ access_token: client.key, name: "Rex" });
    assertRefused(await client.post(`${sent}&categoryId=1`, form), 401);
    const fields = ["x-api-key", "api-key", "x-auth-token", "x-access-token"];
    const wrong = fields.map((field) => ({ [field]: client.key }));
    const others: readonly Readonly<Record<string, string>>[] = [
      { cookie: `token=${client.key}; key=${client.key}` },
      { "proxy-authorization": `Bearer ${client.key}` },
    ];
    await assertUnauthorized(client, [...wrong, ...others]);
  },
};

const CREATED: Checks = {
  async "createPet answers 201 with the animal and a new id"(client) {
    const ids = new Set<bigint>();
    for (const status of STATUSES) {
      const sent = { name: newName(), categoryId: client.categoryId, status };
      ids.add((await client.addPet(sent)).id);
    }
    assert.ok(ids.size === 3, "an id was given twice");
    const { name, ...first } = await client.addPet();
    const same = { name, categoryId: first.categoryId };
    const upper = { ...same, name: name.toUpperCase() };
    for (const sent of [same, upper, { ...same, status: "sold" }]) {
      const second = await client.post(client.petJson(sent));
      // A store may insist on unused names.
      if (second.status >= 400 && second.status < 500) continue;
      const { id } = petIn(second, 201);
      assert.ok(id !== first.id, "an id was given twice");
    }
    const pet = await client.getPet(first.id);
    assert.deepEqual(pet, { name, ...first }, "an animal was replaced");
  },

  async "createPet gives each of several animals added at once its own id and answer"(
    client,
  ) {
    const adding = Array.from(
      { length: 20 },
      (_, i) => client.addPet({ status: STATUSES[i % 3] }),
    );
    const listing = adding.map(() => client.listPets());
    const [pets] = await Promise.all([
      Promise.all(adding),
      Promise.all(listing),
    ]);
    const ids = new Set(pets.map(({ id }) => id));
    assert.ok(ids.size === pets.length, "an id was given twice");
    const getting = pets.map(({ id }) => client.getPet(id));
    assert.deepEqual(await Promise.all(getting), pets);
    await assertListed(client, pets);
  },

  async "createPet assigns the id itself, whatever the body says"(client) {
    const pet = await client.addPet();
    for (const id of [randomId(), `${randomId()}`, pet.id, null]) {
      const answer = await client.post(client.petJson({ id }));
      // A store may refuse unknown members.
      if (answer.status === 400) continue;
      const added = petIn(answer, 201);
      const isChosen = `${added.id}` === `${id}`;
      assert.ok(!isChosen, `the id is ${id}, which the client sent`);
    }
    assert.deepEqual(await client.getPet(pet.id), pet, "a pet was replaced");
  },
};

const GOT: Checks = {
  async "getPet returns the animal with this id, and no other"(client) {
    client.needGetPet();
    const pet = await client.addPet();
    for (const added of [pet, await client.addPet({ status: "sold" })]) {
      assert.deepEqual(await client.getPet(added.id), added);
    }
    const { id } = pet;
    // Ids that 32 bits, or a double, would take for the first.
    const near = [id + 2n ** 32n, id - 2n ** 32n, id + 1n, id - 1n];
    for (const other of near.filter(isInt64)) await assertNone(client, other);
  },

  async "getPet answers 404 if no animal has the id"(client) {
    client.needGetPet();
    const { id } = await client.addPet();
    for (const other of [randomId(), randomId(), -randomId()]) {
      assertRefused(await client.get(`/pets/${other}`), 404);
    }
    const ids = [INT64_MAX, INT64_MIN, id + 1n];
    for (const other of ids.filter(isInt64)) await assertNone(client, other);
    await client.getPet((await client.addPet()).id); // perhaps that id + 1
    // No animal can have these ids; a service may call them invalid.
    const odd = ["abc", ".5", "%20OR%201=1", "-1", ",8", "_0"];
    const others = [id + 2n ** 64n, id - 2n ** 64n, `0_${id}`, "constructor"];
    if (id > 9n) others.push(`${id}`.replace(/^./, "$&_"));
    for (const other of [...odd.map((end) => id + end), ...others]) {
      const { status } = await client.get(`/pets/${other}`);
      assert.ok(status >= 400 && status < 500, `${status} should be 404`);
    }
  },
};

const KEPT: Checks = {
  async "a categoryId is any int64, exact to the last digit in, stored and out"(
    client,
  ) {
    const sent = [client.categoryId, ...CATEGORIES]
      .map((categoryId) => ({ categoryId, status: "sold" }));
    const refused = await assertKept(client, sent);
    if (refused.length === 0) return;
    const ids = refused.map(({ categoryId }) => categoryId).join(", ");
    throw new Unchecked(`the store refuses the categories ${ids}`);
  },

  async "createPet keeps a name as it is sent, or refuses it"(client) {
    const names = NAMES.map((spell) => spell(newName()));
    const sent = names.map((name) => ({ name, status: "pending" }));
    await assertKept(client, sent);
  },
};

const REFUSALS: Checks = {
  ...refusals(),

  async "a body that is missing, is not a JSON object, or lacks a field is 400"(
    client,
  ) {
    const name = newName();
    const pet = client.petJson({ name });
    const added = await client.addPet();
    const json = { "content-type": "application/json" };
    for (const headers of [{}, json]) {
      const missing = { headers };
      assertRefused(await client.send("POST", "/pets", missing), 400);
    }
    const bodies = [
      ...["", "{", "null", "true", "7", '"Rex"', "[]", "{}"],
      ...[`[${pet}]`, pet + pet, pet.slice(0, -1), pet.slice(1), name],
      `{"name":"${name}"}`,
      `{"categoryId":${client.categoryId}}`,
      ...["__proto__", "pet", "data"].map((member) => `{"${member}":${pet}}`),
      ...[pet.replace("name", "Name"), pet.replace("categoryId", "categoryid")],
      ...[pet.replace("name", "title"), pet.replace("I", "_i")],
    ];
    for (const body of bodies) {
      assertRefused(await client.post(body), 400);
    }
    await client.assertNotAdded(name);
    assert.deepEqual(await client.getPet(added.id), added, "it was undone");
  },
};

const LISTED: Checks = {
  async "listPets returns an empty array if no animal has the status"(client) {
    let isSeen = false;
    for (const query of ["", ...STATUSES.map((one) => `?status=${one}`)]) {
      const answer = await client.get(`/pets${query}`);
      const isEmpty = answer.status !== 200 || !/\{.*\}/s.test(answer.text);
      if (isEmpty || answer.text.trim() === "{}") {
        assert.deepEqual(petsIn(answer).slice(0, 1), []);
        isSeen = true;
      }
    }
    if (!isSeen) throw new Unchecked("the store has animals of each status");
  },

  async "listPets returns an array of animals"(client) {
    const pets = [
      await client.addPet({ status: "sold" }),
      await client.addPet(),
    ];
    const ids = await client.listIds("?limit=100");
    assert.ok(ids.length > 0, "the list is empty");
    assert.equal(new Set(ids).size, ids.length, "an animal is listed twice");
    await assertListed(client, pets);
  },
};

const FILTERED: Checks = {
  async "listPets filters by each status"(client) {
    const pets: Pet[] = [];
    for (const status of [...STATUSES, ...STATUSES]) {
      pets.push(await client.addPet({ status }));
    }
    pets.push(await client.addPet()); // found by the status that it is returned with
    for (const pet of pets) {
      assert.deepEqual(await client.getPet(pet.id), pet);
    }
    for (const status of STATUSES) {
      const page = await client.listPets(`?limit=100&status=${status}`);
      assertStatus(page, status);
    }
    await assertListed(client, pets);
  },

  async "listPets applies limit after the filter by status"(client) {
    for (const status of [...STATUSES, ...STATUSES]) {
      await client.addPet({ status });
    }
    for (const status of STATUSES) {
      for (const limit of [1, 2]) {
        const query = `?status=${status}&limit=${limit}`;
        const page = await assertLimit(client, query, limit);
        assertStatus(page, status);
      }
    }
  },
};

const LIMITED: Checks = {
  async "listPets returns 20 animals if no limit is sent"(client) {
    for (const status of STATUSES.slice(1)) {
      await client.addPets(21, { status });
    }
    for (const query of ["", "?status=pending", "?status=sold"]) {
      await assertLimit(client, query, 20);
    }
  },

  async "listPets accepts a limit from 1 to 100"(client) {
    await client.addPets(101, { status: "available" });
    for (const limit of [1, 2, 19, 21, 50, 51, 99, 100]) {
      await assertLimit(client, `?limit=${limit}`, limit);
      await assertLimit(client, `?limit=${limit}&status=available`, limit);
    }
  },

  async "the pages of listPets lead to every animal"(client) {
    await client.addPets(3, { status: "sold" });
    const pets = await client.addPets(101, { status: "pending" });
    await client.addPets(3, { status: "sold" });
    const walks = [["&status=pending", 30], ["", 100]] as const;
    for (const [status, limit] of walks) {
      const query = `?limit=${limit}${status}`;
      const { pages, isWhole } = await client.walk(query, limit);
      if (pages.length < 2 || !isWhole) {
        throw new Unchecked(
          "no page links the next, or the listing has no end",
        );
      }
      const all = pages.flat();
      if (status !== "") assertStatus(all, "pending");
      for (const pet of pets) {
        const found = all.find(({ id }) => id === pet.id);
        const words = "an animal is on no page, or not as added";
        assert.deepEqual(found, pet, words);
      }
    }
  },

  async "listPets returns at most 100 animals"(client) {
    await client.addPets(101, { status: "available" });
    const status = "status=available";
    for (const query of ["limit=101", "limit=1000", `limit=1000&${status}`]) {
      const answer = await client.get(`/pets?${query}`);
      // The interface does not show the answer to an invalid limit.
      if (answer.status !== 200 || !/^\s*\[/.test(answer.text)) continue;
      const { length } = petsIn(answer);
      assert.ok(length <= 100, `${length} animals for ${query} should be 100`);
    }
  },
};

const JSON_READ: Checks = {
  async "createPet reads a name however JSON spells it"(client) {
    for (const spelling of SPELLINGS) {
      const spelled = `"${newName()}${spelling}"`;
      const answer = await client.post(client.petWith("name", spelled));
      if (answer.status !== 400) {
        assert.equal(petIn(answer, 201).name, JSON.parse(spelled));
        continue;
      }
      // A store may refuse the name, but not this spelling of it.
      const name = newName() + JSON.parse(`"${spelling}"`);
      assertRefused(await client.post(client.petJson({ name })), 400);
    }
  },

  async "createPet reads JSON with whitespace, members in any order, and a charset"(
    client,
  ) {
    const { categoryId } = client;
    const type = "application/json; charset=utf-8";
    const sent: [body: (name: string) => string, type?: string][] = [
      [(name) =>
        ` \r\n\t{ "name" :\n"${name}"\t, "categoryId": ${categoryId} }\n`],
      [(name) => `{"categoryId":${categoryId},"name":"${name}"}`],
      [(name) => `{"n\\u0061me":"${name}","categoryId":${categoryId}}`],
      [(name) => client.petJson({ name }), type],
    ];
    for (const [body, type = "application/json"] of sent) {
      const name = newName();
      const answer = await client.post(body(name), { "content-type": type });
      const pet = petIn(answer, 201);
      assert.deepEqual(pet, { ...pet, name, categoryId });
    }
  },

  async "createPet reads a body in pieces, wherever it is cut"(client) {
    const name = `${newName()}é🐕`;
    const body = client.petJson({ name });
    if ((await client.post(body.replace("Rex", "Max"))).status === 400) {
      throw new Unchecked("the store refuses the name");
    }
    const bytes = new TextEncoder().encode(body);
    const cuts = [0, bytes.indexOf(0xc3) + 1, bytes.indexOf(0xf0) + 2];
    const inPieces = new ReadableStream({
      async start(controller) {
        for (const [i, cut] of cuts.entries()) {
          controller.enqueue(bytes.slice(cut, cuts[i + 1]));
          // So that it is a piece of its own; one body of all must be read too.
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        controller.close();
      },
    });
    const shown = `${body}\n(chunked, cut after bytes ${cuts.slice(1)})`;
    const answer = await client.send("POST", "/pets", {
      body: inPieces,
      shown,
    });
    if (answer.status === 411) throw new Unchecked("it wants Content-Length");
    assert.equal(petIn(answer, 201).name, name);
  },
};

const FAILURES: Checks = {
  async "no create is answered with 5xx, except 503 with Retry-After"(client) {
    const names = [
      ...['""', '"\\u0000"', '"\\ud83d"', '"\\udc15\\ud83d"'],
      ...[300, 2000, 4096].map((length) => `"${"x".repeat(length)}"`),
    ];
    const numbers = ["9".repeat(5000), `1.${"0".repeat(5000)}`, "1e999999999"];
    const bodies = [
      ...names.map((value) => client.petWith("name", value)),
      ...numbers.map((value) => client.petWith("categoryId", value)),
      client.petJson({ x: "x".repeat(4096) }),
      ...["[".repeat(5000) + "]".repeat(5000), "\ufeff{}"],
      new Uint8Array([0x7b, 0x22, 0xff, 0x22]), // no UTF-8
    ];
    for (const body of bodies) {
      const { status, headers } = await client.post(body);
      const isLater = status === 503 && headers.has("retry-after");
      assert.ok(status < 500 || isLater, `${status} should be 201 or 400`);
    }
  },

  async "every error has an Error body, even for an odd query or id"(client) {
    const { id } = await client.addPet();
    const beyond = 2n ** 64n + id;
    const odd =
      `?limit=0 ?limit=101 ?limit=-1 ?limit=x ?limit=1.5 ?limit= ?limit=1&limit=x
      ?limit=${"9".repeat(30)} ?status=gone ?status= ?status=SOLD
      ?status=sold&status=x /x /%FF /constructor /${id}x /${id}.5 /${beyond}`;
    const check = (answer: Answer) =>
      answer.status < 400 || assertRefused(answer, answer.status);
    const text = { "content-type": "text/plain" };
    check(await client.post(client.petJson(), text));
    check(await client.get(`/pets/${randomId()}`, { accept: "text/html" }));
    for (const path of odd.split(/\s+/)) {
      check(await client.get(`/pets${path}`));
    }
    // A server may close the connection instead of reading so much.
    const much = client.post(client.petJson({ x: "x".repeat(2 ** 18) }));
    const answer = await much.catch(() => undefined);
    if (answer !== undefined) check(answer);
  },
};

const MADE: Checks = {
  async "createPet keeps any letters and any int64 exactly, or refuses them"(
    client,
  ) {
    const random = randomFrom(client.seed);
    const names = anyTexts(random).map((text) => newName() + text);
    const integers = anyIntegers(random).filter(isInt64);
    for (const name of WORDS) await kept(client, { name });
    await assertKept(client, [
      ...names.map((name) => ({ name, status: "sold" })),
      ...integers.map((categoryId) => ({ categoryId, status: "sold" })),
    ]);
  },

  async "an animal stays as it was added, with an id of its own"(client) {
    const last = await client.addPets(3);
    const pets = client.service.added ?? last;
    const ids = new Set(pets.map(({ id }) => id));
    assert.ok(ids.size === pets.length, "an id was given twice");
    const every = Math.ceil(pets.length / 150);
    for (const pet of pets.filter((_, i) => i % every === 0)) {
      assert.deepEqual(await client.getPet(pet.id), pet);
    }
  },
};

/** Sentences of the interface, and the clauses that follow from each. */
const SENTENCES: Readonly<Record<string, Checks>> = {
  "When the key is missing or invalid, the response is 401 with an Error body.":
    KEYS,
  "201, Pet (includes the assigned `id`): Animal added.": CREATED,
  "200: The animal exists. 404: The requested animal could not be found.": GOT,
  "name: string. categoryId: integer, int64.": KEPT,
  "400: Body is missing, lacks required fields or contains invalid values.":
    REFUSALS,
  "200, Pets (array of Pet): Success; a paginated list.": LISTED,
  "status: Returns only animals with this availability status.": FILTERED,
  "Request and response bodies are `application/json`.": JSON_READ,
  "Every error response carries an Error body.": FAILURES,
  "limit: minimum 1, maximum 100, default 20.": LIMITED,
  "Pet (animal as returned): All fields of NewPet (same types).": MADE,
};

/** Clauses of the interface. */
export const INTERFACE_CLAUSES: Clauses = Object.fromEntries(
  Object.entries(SENTENCES).flatMap(([says, checks]) =>
    Object.entries(checks).map(([title, check]) => [title, { check, says }])
  ),
);

/** A clause for each kind of value that createPet refuses. */
function refusals(): Checks {
  const clauses: Record<string, Check> = {};
  for (const [kind, [member, values]] of Object.entries(REFUSED)) {
    clauses[`createPet refuses ${kind}`] = async (client) => {
      const name = newName();
      for (const value of values(randomFrom(client.seed))) {
        const body = client.petWith(member, value, { name });
        assertRefused(await client.post(body), 400);
      }
      if (member !== "name") await client.assertNotAdded(name);
    };
  }
  return clauses;
}

/**
 * Asserts that each operation answers 401 with any of these header fields instead of the key, and
 * adds nothing.
 */
async function assertUnauthorized(
  client: PetsClient,
  all: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  const { id } = await client.addPet();
  const name = newName();
  for (const fields of all) {
    const headers = { authorization: undefined, ...fields };
    assertRefused(await client.get("/pets", headers), 401);
    if (!client.isAfterRemoval) {
      assertRefused(await client.get(`/pets/${id}`, headers), 401);
    }
    const body = client.petJson({ name });
    assertRefused(await client.post(body, headers), 401);
  }
  await client.assertNotAdded(name);
}

/**
 * Adds a pet whose category or name a store may refuse, but not change; returns `undefined` if it
 * refuses.
 */
async function kept(
  client: PetsClient,
  members: Readonly<Record<string, unknown>>,
): Promise<Pet | undefined> {
  const body = client.petJson(members);
  const answer = await client.post(body);
  // A store may also limit the size of a body.
  if (answer.status === 400 || (answer.status === 413 && body.length > 1000)) {
    return void assertRefused(answer, answer.status);
  }
  const pet = petIn(answer, 201);
  assert.deepEqual(pet, { ...pet, ...members }, "the animal is not as sent");
  assert.deepEqual(await client.getPet(pet.id), pet);
  return pet;
}

/**
 * Asserts that getPet and the listing show each pet as it was sent, unless the store refuses it;
 * returns the refused ones.
 */
async function assertKept<Sent extends Readonly<Record<string, unknown>>>(
  client: PetsClient,
  all: readonly Sent[],
): Promise<readonly Sent[]> {
  const added: Pet[] = [];
  const refused: Sent[] = [];
  for (const sent of all) {
    const pet = await kept(client, sent);
    if (pet === undefined) refused.push(sent);
    else added.push(pet);
  }
  // Last, because not every listing can be searched.
  await assertListed(client, added);
  return refused;
}

/**
 * Asserts that the listing has each of these pets once, with and without the filter by its status.
 */
async function assertListed(
  client: PetsClient,
  pets: readonly Pet[],
): Promise<void> {
  for (const status of [undefined, ...STATUSES]) {
    const listed = status === undefined
      ? pets
      : pets.filter((pet) => pet.status === status);
    if (listed.length === 0) continue;
    const query = status === undefined ? "" : `&status=${status}`;
    const names = listed.map(({ name }) => name);
    const found = await client.findPets(names, query);
    for (const pet of listed) {
      const same = found.filter(({ name }) => name === pet.name);
      assert.deepEqual(same, [pet], `GET /pets${query.replace("&", "?")}`);
    }
  }
}

/**
 * Asserts that a page has `limit` pets, of which the store has more; or fewer, if it links the
 * rest.
 */
async function assertLimit(
  client: PetsClient,
  query: string,
  limit: number,
): Promise<readonly Pet[]> {
  const { pages, isWhole } = await client.walk(query, limit, limit);
  const [first = []] = pages;
  const ids = new Set(pages.flat().map(({ id }) => id));
  const isShort = first.length < limit && pages.length > 1;
  if (isShort && ids.size < limit && !isWhole) {
    throw new Unchecked("pages are shorter than asked for");
  }
  const length = isShort ? Math.min(ids.size, limit) : first.length;
  assert.equal(length, limit, `animals for ${query || "no limit"}`);
  assert.ok(isShort || ids.size === limit, "an animal is listed twice");
  return first;
}

/**
 * Asserts that all pets have a status. Only one that does not is compared, because the diff of
 * thousands takes gigabytes.
 */
function assertStatus(pets: readonly Pet[], status: string): void {
  const other = pets.filter((pet) => pet.status !== status).slice(0, 1);
  assert.deepEqual(other, []);
}

/** Asserts that no animal has an id, or that the one returned really has it. */
async function assertNone(client: PetsClient, id: bigint): Promise<void> {
  const answer = await client.get(`/pets/${id}`);
  if (answer.status !== 200) assertRefused(answer, 404);
  else assert.equal(petIn(answer, 200).id, id, "the id");
}

function isInt64(value: bigint): boolean {
  return value === BigInt.asIntN(64, value);
}

/** Returns an id of 18 digits, which almost certainly no pet has. */
function randomId(): bigint {
  const [number = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return 10n ** 17n + number % (9n * 10n ** 17n);
}
