/**
 * The book of exchanges: rules that single requests and their answers show. Each rule has answers,
 * and each answer has the requests that get it. A store must answer with the status, and name the
 * same members; the rest of a message is this service's own, and only its tests compare it.
 *
 * A status without a message is enough if the message only quotes what was sent.
 */

import assert from "node:assert/strict";
import type { Answer, Question } from "./ask.ts";
import { assertRefused } from "./error_reply.ts";
import {
  type Clauses,
  newName,
  petIn,
  type PetsClient,
  readExactly,
  step,
} from "./pets_client.ts";

type Body = NonNullable<Question["body"]>;

/** A request: a create of a pet with a new name, unless it says otherwise. */
export interface Sent {
  /**
   * A request without a body: the method and the path, below `/v1` or `{above}` it. `{id}` is that
   * of a pet.
   */
  readonly line?: string;
  readonly headers?: NonNullable<Question["headers"]>;
  /** Members of the pet, as JSON. */
  readonly members?: Readonly<Record<string, string>>;
  /** What is sent instead of the pet, or a function that makes it from the pet's JSON. */
  readonly body?: Body | ((pet: string) => Body);
  /** True if the body is sent in pieces, without `Content-Length`. */
  readonly isInPieces?: boolean;
}

/**
 * Requests by their answer: a status, then an error's message, or the members of the pet that
 * differ from those sent.
 */
export type Exchanges = Readonly<Record<string, readonly Sent[]>>;

const NO_KEY_SENT =
  '401 API key is missing: send it in the header "Authorization: Bearer <API_KEY>"';
const WRONG_KEY_SENT =
  "401 API key is invalid: it is unknown, expired or revoked";
const WRONG_TYPE =
  "415 Cannot read the body: its Content-Type must be a single application/json, in UTF-8";
const TOO_LARGE = "413 Cannot read the body: it has more than 65536 bytes";
const MALFORMED_KEY =
  '400 Cannot create pet: the Idempotency-Key header must be one key of 1 to 255 visible ASCII characters, such as "8e03978e-40d5-43dd-bc93-6894a57f9324", with or without the quotes';
const NO_OBJECT = "400 Cannot create pet: the body must be a JSON object";
const INT64 = "integer from -9223372036854775808 to 9223372036854775807";
const NO_INT64 = `categoryId must be an ${INT64}`;
const ONE_INT64 = `one ${INT64}`;
const ONE_LIMIT = "one integer from 1 to 100";
const NO_STATUS = "status must be one of available, pending, sold";

const TEXT = { "content-type": "text/plain" };
const BAD_KEY = { "idempotency-key": '"' };
const WRONG_KEY = { authorization: "Bearer wrong" };
/** One byte more than the 64 KiB that a body may have. */
const TOO_MUCH = "x".repeat(65_537);
const DEEP = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;

const withField = (field: string, ...values: readonly (string | undefined)[]) =>
  values.map((value): Sent => ({ headers: { [field]: value } }));
const types = (...all: readonly (string | undefined)[]) =>
  withField("content-type", ...all);
const withMember = (member: string, ...values: readonly string[]) =>
  values.map((json): Sent => ({ members: { [member]: json } }));
const names = (...all: readonly string[]) =>
  withMember("name", ...all.map((name) => JSON.stringify(name)));
/** A body that is made from the JSON of a pet. */
const made = (body: (pet: string) => Body): Sent => ({ body });
/** A pet with bytes in it, each a character of a text. */
const withBytes = (text: string): Sent =>
  made((pet) =>
    Uint8Array.from(
      pet.replace("}", `,"x":"${text}"}`),
      (byte) => byte.charCodeAt(0),
    )
  );

const get = (...paths: readonly string[]) =>
  paths.map((path): Sent => ({ line: `GET ${path}` }));
/** Listings with values of a parameter, under the answer to each. */
const wrong = (name: string, rule: string, ...values: readonly string[]) =>
  Object.fromEntries(values.map((value) => [
    `400 Cannot list pets: ${name} must be ${rule}, not "${value}"`,
    get(`/pets?${name}=${encodeURIComponent(value)}`),
  ]));
/** Each operation, with each of these in place of the key. */
const withKey = (...all: readonly (string | undefined)[]) =>
  [{}, ...get("/pets", "/pets/{id}")].flatMap((sent) =>
    all.map((authorization) => ({ ...sent, headers: { authorization } }))
  );

/** Exchanges by the rule that they show. */
// deno-fmt-ignore -- a table
export const EXCHANGES: Readonly<Record<string, Exchanges>> = {
  // ---- Requests and routing ----
  "a path that is not described is 404 for any method, with or without a key": {
    "404 Cannot find this path: /v1/openapi.json describes those of the service":
      ["GET", "DELETE", "OPTIONS"].flatMap((method) =>
        [{}, { authorization: undefined }].map((headers) => ({ line: `${method} /store/orders`, headers }))
      ),
  },

  "paths are exact and case-sensitive": {
    "200": get("/pets", "/pets/{id}"),
    "404 Cannot find this path: /v1/openapi.json describes those of the service": [
      ...get("", "/", "//pets", "/PETS", "/petsx", "/pets/", "/pets%2F{id}", "/pets//{id}"),
      ...get("/pets/{id}/", "/pets/{id}/x", "{above}/pets", "{above}/v2/pets", "{above}/V1/pets"),
    ],
  },

  "a 401 has a challenge, with the code invalid_token if a bearer key was sent": {
    [NO_KEY_SENT]: withKey(undefined, "Bearer", "Basic dTpw"),
    [WRONG_KEY_SENT]: withKey("Bearer wrong"),
  },

  // ---- Listing and getting ----
  "listPets refuses a wrong limit, status or after, and says what it may be": {
    ...wrong("limit", ONE_LIMIT, "0", "101", "1e1", "+5", "05", "10.0", "", " 5"),
    ...wrong("status", "one of available, pending, sold", "", "Sold", "x", "available,sold"),
    ...wrong("after", ONE_INT64, "", "x", "1.0", "+1", "01", "9223372036854775808"),
    [`400 Cannot list pets: limit must be ${ONE_LIMIT}, not ""`]: get("/pets?limit"),
  },

  "one 400 names each parameter that is wrong or repeated": {
    [`400 Cannot list pets: limit must be ${ONE_LIMIT}, not 2 values`]: get("/pets?limit=5&l%69mit=5"),
    "400 Cannot list pets: status must be one of available, pending, sold, not 2 values":
      get("/pets?status=sold&status=sold"),
    [`400 Cannot list pets: after must be ${ONE_INT64}, not 2 values`]: get("/pets?after=1&x=&after=2"),
    [`400 Cannot list pets: limit must be ${ONE_LIMIT}, not "0"; status must be one of available, pending, sold, not " sold"; after must be ${ONE_INT64}, not "x"`]:
      get("/pets?limit=0&status=+sold&after=x"),
  },

  "getPet answers 404 if the id is not a positive int64 in canonical form": {
    "404": [
      ...get("/pets/0", "/pets/-1", "/pets/-9223372036854775808", "/pets/92233720368547758079"),
      ...get("/pets/0{id}", "/pets/{id}.0", "/pets/+{id}", "/pets/%30{id}", "/pets/{id}x"),
      ...get("/pets/x", "/pets/%", "/pets/%FF", `/pets/${"1".repeat(2000)}`),
    ],
  },

  // ---- Creating ----
  "createPet answers 201 with the address of the animal": { "201": [{}] },

  "an animal whose status is left out is available": { '201 "status":"available"': [{}] },

  "unknown body members are ignored and not kept": {
    "201": [
      { members: { id: "-77", tags: '["a"]', toString: "null", ["__proto__"]: '{"status":"sold"}' } },
    ],
  },

  "a name has 1 to 255 code points and is kept exactly": {
    "201": [
      ...names(" ", "🐕".repeat(255), '"\\/', "\u0080\u009f\u2028\ufeff\ufffd\u200b"),
      ...names("Zoe\u0308"), // not composed to Zoë
    ],
    "400 Cannot create pet: name must be a string": withMember("name", "null", "7"),
    "400 Cannot create pet: name must not be empty": names(""),
    "400 Cannot create pet: name must be well-formed Unicode, without lone surrogates":
      names("\udc15\ud83d", "\ud83d"),
    "400 Cannot create pet: name must not contain control characters (U+0000 to U+001F, U+007F)":
      names("R\0x", "R\u001fx", "R\u007fx"),
    "400 Cannot create pet: name must have at most 255 characters (Unicode code points)":
      names("x".repeat(256), "🐕".repeat(256)),
  },

  "a categoryId is an integer however JSON spells it": {
    '201 "categoryId":1': withMember("categoryId", "1.0"),
    '201 "categoryId":100': withMember("categoryId", "1e2"),
    '201 "categoryId":0': withMember("categoryId", "-0"),
    '201 "categoryId":9223372036854775807': withMember("categoryId", "922337203685477580.7e1"),
    [`400 Cannot create pet: ${NO_INT64}`]:
      withMember("categoryId", "1.5", "null", "9223372036854775808", "1e400"),
    [`400 Cannot create pet: ${NO_INT64}, without quotes`]:
      withMember("categoryId", '"1"', '"9007199254740993"'),
  },

  "a status is one of three, in lower case": {
    [`400 Cannot create pet: ${NO_STATUS}`]: withMember("status", '""', '"Sold"', "null", '["sold"]'),
  },

  "one 400 names each member that is wrong, and no other": {
    "400 Cannot create pet: name is required; categoryId is required": [{ body: "{}" }],
    [`400 Cannot create pet: name is required; ${NO_INT64}`]: [{ body: '{"categoryId":1.5}' }],
    [`400 Cannot create pet: name must not be empty; ${NO_INT64}; ${NO_STATUS}`]:
      [{ members: { name: '""', categoryId: "1.5", status: '"gone"' } }],
    [NO_OBJECT]: [{ body: "7" }, { body: "[]" }, { body: "null" }],
  },

  "createPet accepts JSON in UTF-8 alone, however Content-Type spells it": {
    "201": [
      ...types(undefined, "Application/JSON", " application/json ", "application/json;charset=utf-8"),
      ...types('application/json ; charset="UTF-8"', "application/json; profile=x; Charset=UTF-8"),
    ],
    [WRONG_TYPE]: [
      ...types(";", "text/plain", "text/plain; charset=application/json"),
      ...types("application/json-patch+json", "application/json charset=utf-8"),
      ...types("application/json; charset", "application/json; charset=utf8"),
      ...types("application/json; charset=utf-16", "application/json; charset=utf-8; charset=utf-16"),
      ...types("application/json; charset = utf-16"),
    ],
  },

  "createPet accepts only a body without a Content-Encoding": {
    "201": withField("content-encoding", "Identity"),
    "415 Cannot read the body: it must be sent without a Content-Encoding":
      withField("content-encoding", "gzip", "identity, gzip", "identity, identity"),
  },

  "a missing body is 400, whatever its media type or coding": {
    "400 Cannot read the body: it is missing": [
      ...[{}, TEXT, { "content-encoding": "gzip" }].map((headers) => ({ line: "POST /pets", headers })),
      { body: "" },
    ],
  },

  "if members have the same name, the last one counts": {
    "201": [made((pet) => pet.replace("{", '{"name":7,"categoryId":"x",'))],
    "400 Cannot create pet: name must be a string": [made((pet) => pet.replace("}", ',"n\\u0061me":7}'))],
  },

  "createPet refuses what is not JSON, even if lenient parsers accept it": {
    "400 Cannot read the body: it is not valid JSON": [
      made((pet) => pet.replace("}", ",}")),
      made((pet) => pet.replace("{", "{,")),
      made((pet) => `{${pet}}`),
      made((pet) => `/* a */${pet}`),
      made((pet) => `${pet}// a\n`),
      made((pet) => pet.replaceAll('"', "'")),
      ...withMember("categoryId", "0x1", "NaN", "Infinity", "01", "+1", ".5e1", "1.e0"),
    ],
  },

  "createPet refuses bytes that are not UTF-8": {
    "400 Cannot read the body: it is not valid UTF-8":
      // The second is overlong, the third a surrogate.
      [withBytes("\xff"), withBytes("\xc0\xaf"), withBytes("\xed\xa0\x80")],
  },

  "createPet accepts a body of 64 KiB, whole or in pieces, and not a byte more": {
    "201": [
      made((pet) => pet.padEnd(65_536)),
      { ...made((pet) => pet.padEnd(65_536)), isInPieces: true },
    ],
    [TOO_LARGE]: [
      { body: TOO_MUCH },
      { body: TOO_MUCH, isInPieces: true },
      ...withMember("x", `"${"é".repeat(33_000)}"`),
    ],
  },

  "a body may be nested as deeply as its size allows": {
    "201": [{ members: { x: DEEP } }, { members: { x: DEEP, categoryId: "1.0" } }],
    [NO_OBJECT]: [{ body: DEEP }],
  },

  "a malformed Idempotency-Key is 400, and the message names the header": {
    [MALFORMED_KEY]:
      withField("idempotency-key", '""', '"a', '"a"b', "a b", "a\tb", "a, b", '"a", "b"', '"a";x', "é")
        .concat(withField("idempotency-key", "k".repeat(256), `"${"k".repeat(256)}"`)),
  },

  "createPet checks the key, Idempotency-Key, media type, size, then content": {
    [WRONG_KEY_SENT]: [{ headers: { ...WRONG_KEY, ...BAD_KEY, ...TEXT }, body: TOO_MUCH }],
    [MALFORMED_KEY]: [
      { headers: { ...BAD_KEY, ...TEXT }, body: TOO_MUCH },
      { headers: { ...BAD_KEY, ...TEXT }, line: "POST /pets" },
    ],
    [WRONG_TYPE]: [{ headers: { "idempotency-key": "k", ...TEXT }, body: TOO_MUCH }],
    [TOO_LARGE]: [{ headers: { "idempotency-key": "k" }, body: TOO_MUCH }],
  },
};

/** Header fields of answers, by how the answers begin. */
const FIELDS: Readonly<Record<string, readonly [string, string]>> = {
  [NO_KEY_SENT]: ["www-authenticate", 'Bearer realm="petstore"'],
  [WRONG_KEY_SENT]: [
    "www-authenticate",
    'Bearer realm="petstore", error="invalid_token"',
  ],
  "415": ["accept", "application/json"],
};

/** The words that a message must contain exactly if ours does. */
const NAMES = /\b(?:name|categoryId|limit|status|after|Idempotency-Key)\b/g;
/** What a message about parameters must contain, besides their values. */
const BOUNDS = ["1", "100", "available", "pending", "sold"];

function namesIn(message: string): readonly string[] {
  return [...new Set(message.match(NAMES))].sort();
}

/** Makes a clause from each rule. */
export function clausesOf(
  rules: Readonly<Record<string, Exchanges>>,
): Clauses {
  return Object.fromEntries(
    Object.entries(rules).map(([rule, exchanges]) => [rule, async (client) => {
      const refused = newName();
      for (const [said, all] of Object.entries(exchanges)) {
        for (const sent of all) await assertAnswer(client, sent, said, refused);
      }
      await client.assertNotAdded(refused);
    }]),
  );
}

/** Sends a request to a store, and asserts that it gets this answer. */
async function assertAnswer(
  client: PetsClient,
  sent: Sent,
  said: string,
  refused: string,
): Promise<void> {
  const [, number, words = ""] = /^(\d+) ?(.*)$/.exec(said) ?? [];
  const status = Number(number);
  // removal_contract.ts has what getPet's path answers then.
  const isOfGetPet = /^GET \/pets\/[^/]+$/.test(sent.line ?? "");
  if (client.isAfterRemoval && isOfGetPet && status !== 404) return;
  if (status === 201) return await assertAdded(client, sent, words);
  const answer = await exchange(client, sent, refused);
  if (status < 400) return assert.equal(answer.status, status, answer.text);
  const message = assertRefused(answer, status);
  const names = namesIn(words);
  if (names.length > 0) assert.deepEqual(namesIn(message), names, message);
  const [, query] = sent.line?.split("?") ?? [];
  const values = new URLSearchParams(query).values();
  for (const word of query === undefined ? [] : [...BOUNDS, ...values]) {
    const isSaid = message.includes(word) || !words.includes(word);
    assert.ok(isSaid, `${word} is missing in the message: ${message}`);
  }
  for (const [start, [name, value]] of Object.entries(FIELDS)) {
    if (!said.startsWith(start)) continue;
    assert.equal(answer.headers.get(name), value, name);
  }
}

/** Asserts that a create adds the pet as sent, except for some members, and says where it is. */
async function assertAdded(
  client: PetsClient,
  sent: Sent,
  others: string,
): Promise<void> {
  const name = newName();
  const answer = await exchange(client, sent, name);
  const { id } = petIn(answer, 201);
  assert.ok(id > 0n, `the id is ${id}`);
  const usual = { name, categoryId: client.categoryId, status: "available" };
  const given = Object.entries(sent.members ?? {})
    .filter(([member]) => Object.hasOwn(usual, member))
    .map(([member, json]) => [member, readExactly(json)]);
  assert.deepEqual(readExactly(answer.text), {
    ...{ id, ...usual, ...Object.fromEntries(given) },
    ...readExactly(`{${others}}`) as object,
  });
  if (client.isAfterRemoval) return;
  await step("location", async () => {
    const location = answer.headers.get("location");
    assert.ok(location !== null, "Location is missing");
    const address = new URL(location, `${client.base}/pets`).href;
    assert.equal(address, `${client.base}/pets/${id}`, "Location");
    assert.equal((await client.get(address)).text, answer.text);
  });
}

/** Sends a request. */
export async function exchange(
  client: PetsClient,
  { line, headers = {}, members, body = (pet) => pet, isInPieces }: Sent,
  petName: string = newName(),
): Promise<Answer> {
  if (line !== undefined) {
    const [method = "", path = ""] = line.split(" ");
    const above = client.base.replace(/\/v1$/, "");
    const id = path.includes("{id}") ? (await client.addPet()).id : "";
    const address = path.replace("{above}", above).replace("{id}", `${id}`);
    return await client.send(method, address, { headers });
  }
  const name = JSON.stringify(petName);
  const pet = { name, categoryId: `${client.categoryId}`, ...members };
  const json = Object.entries(pet).map(([member, value]) =>
    `"${member}":${value}`
  );
  const made = typeof body === "function" ? body(`{${json}}`) : body;
  if (!isInPieces) return await client.post(made, headers);
  const sent = { body: inPieces(made), shown: `${made}\n(chunked)`, headers };
  return await client.send("POST", "/pets", sent);
}

function inPieces(body: Body): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(`${body}`);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 1000) {
        controller.enqueue(bytes.slice(at, at + 1000));
      }
      controller.close();
    },
  });
}
