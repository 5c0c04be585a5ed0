import assert from "node:assert/strict";
import test from "node:test";
import { checkFaults } from "../../../adapters/sandbox/check_faults.ts";

test("faults are accepted as they are", () => {
  const faults = [
    { delay: 0 },
    { delay: 2147483647, lose: true, work: true },
    { when: {}, times: "always", cut: 0 },
    { when: { method: "POST", path: "/v1/pets/{petId}" }, times: 3, drip: 1 },
    {
      answer: { status: 503, headers: { "retry-after": null, "x-a": "b" } },
      work: false,
    },
    { answer: { status: 200, body: "" } },
    { answer: { status: 204 } },
    { answer: { headers: { link: null } } },
    { answer: { status: 304, headers: { etag: '"1"' } }, work: true },
    { answer: { status: 503, headers: { "retry-after": { in: 3 } } } },
    {
      answer: { headers: { "retry-after": { date: 0 }, location: "{other}" } },
    },
    { cut: 1, framing: "close" },
    { stall: 0, framing: "chunked", when: { key: "test-a" } },
    { cut: 1, reset: true },
    { lose: true, reset: true, work: true },
    {
      lose: true,
      when: { query: { after: true, limit: "5" }, headers: { "x-a": false } },
    },
  ];
  assert.deepEqual(checkFaults(faults), faults);
  assert.deepEqual(checkFaults([]), []);
});

type Row = readonly [unknown, RegExp];

const FAULTS: readonly Row[] = [
  [null, /it must be a JSON object$/],
  [
    {},
    /it must have exactly one of answer, .* stall and drip, or delay alone$/,
  ],
  [{ cut: 1, drip: 1 }, /it must have exactly one of/],
  [{ when: { method: "GET" } }, /it must have exactly one of/],
  [{ loose: true }, /loose is unknown; use when, times, delay, .*, reset$/],
  [{ delay: -1 }, /delay must be an integer from 0 to 2147483647$/],
  [{ delay: 2147483648 }, /delay must be an integer/],
  [{ delay: "5" }, /delay must be an integer/],
  [{ cut: -1 }, /cut must be an integer from 0 to/],
  [{ drip: 0 }, /drip must be an integer from 1 to/],
  [{ lose: false }, /lose must be true$/],
  [{ lose: false, cut: -1 }, /lose must be true$/], // no more: a body may have a million
  [{ lose: true, work: 1 }, /work must be true or false$/],
  [{ cut: 1, work: true }, /it has work, which needs answer or lose$/],
  [{ stall: -1 }, /stall must be an integer from 0 to/],
  [{ lose: true, framing: "close" }, /it has framing, which needs cut, stall /],
  [{ cut: 1, framing: "gzip" }, /must be one of length, chunked, close$/],
  [{ drip: 1, reset: true }, /it has reset, which needs lose or cut$/],
  [{ lose: true, reset: 1 }, /reset must be true or false$/],
];

const TIMES: readonly Row[] = [
  [0, /times must be an integer from 1 to 9007199254740991$/],
  ["ever", /times must be an integer of at least 1, or "always"$/],
];

const WHENS: readonly Row[] = [
  [null, /when must be a JSON object$/],
  [
    { method: "post" },
    /when.method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS$/,
  ],
  [{ path: "v1/pets" }, /when.path must fit one of \/v1\/pets, .*openapi.json/],
  ...["/pets", "/v1/pet", "/v1/pets/", "/v1/pets/1/photos", ""].map((path) =>
    [{ path }, /when.path must fit/] as const
  ),
  [{ path: "/v1/pets/1?a" }, /when.path must have no query$/],
  [{ qery: "" }, /qery is unknown; use method, path, query, headers, key$/],
  [{ query: "" }, /when.query must be a JSON object$/],
  [{ query: { limit: 5 } }, /query.limit must be a string, true \(any\) or /],
  [{ headers: { "a b": true } }, /headers.a b is not the name of a header /],
  [{ key: 1 }, /when.key must be a string$/],
];

const ANSWERS: readonly Row[] = [
  [503, /answer must be a JSON object$/],
  [{}, /answer needs a status, or headers alone$/],
  [{ headers: {}, body: "" }, /answer needs a status, or headers alone$/],
  [{ status: 199 }, /answer.status must be an integer from 200 to 599$/],
  [{ status: 600, body: "" }, /answer.status must be/],
  [{ status: 200 }, /answer needs a body, .* is not an error of the contract$/],
  [{ status: 204, body: "" }, /answer cannot have a body, .* 204, 205 or 304$/],
  [{ status: 503, body: {} }, /answer.body must be a string$/],
  [{ status: 502, body: "\ud800" }, /answer.body must be well-formed Unicode/],
];

const FIELDS: readonly Row[] = [
  [[], /answer.headers must be a JSON object$/],
  [new Headers({ a: "b" }), /answer.headers must be a JSON object$/],
  [{ "a b": "" }, /answer.headers.a b is not the name of a header field$/],
  [{ "Content-Length": "1" }, /headers.Content-Length is set by the server$/],
  [{ "transfer-encoding": "chunked" }, /is set by the server$/],
  [{ a: "b\nc: d" }, /answer.headers.a cannot be sent$/],
  [{ a: 1 }, /answer.headers.a must be a string/],
  [{ a: {} }, /headers.a must be a string, null, or such as \{"in":3\} or /],
  [{ a: { in: -1 } }, /answer.headers.a.*/],
  [{ a: { in: 1, date: 1 } }, /answer.headers.a must be a string, null, or /],
  [{ "Proxy-Connection": "close" }, /Proxy-Connection is set by the server$/],
  [{ constructor: "a" }, /headers cannot have a member .*constructor/],
  [JSON.parse('{"__proto__":"a"}'), /headers cannot have a member __proto__/],
  [{ Date: null }, /answer.headers cannot remove Date: the server sends one$/],
];

const WRONG: readonly Row[] = [
  ...FAULTS,
  ...TIMES.map(([times, said]) => [{ lose: true, times }, said] as const),
  ...WHENS.map(([when, said]) => [{ lose: true, when }, said] as const),
  ...ANSWERS.map(([answer, said]) => [{ answer }, said] as const),
  ...FIELDS.map(([headers, said]) =>
    [{ answer: { status: 503, headers } }, said] as const
  ),
];
for (const [wrong, message] of WRONG) {
  test(`the fault ${JSON.stringify(wrong)} is refused`, () => {
    assert.throws(() => checkFaults([{ lose: true }, wrong]), {
      name: "TypeError",
      message: new RegExp(`^Cannot add fault 2: .*${message.source}`),
    });
  });
}
