/** What an exam reads from a client's output, and what it finds: tables, without a process. */
import assert from "node:assert/strict";
import test from "node:test";
import type { RecordedRequest } from "../adapters/sandbox/mod.ts";
import { type Claim, readClaim, type ShownPet } from "./exam/claim.ts";
import { HARMS, type Trial, TRIALS } from "./exam/trial.ts";
import { findingsOf, type Run } from "./exam/verdict.ts";

const BIG = 2n ** 53n + 1n;
const rex = { id: 7n, name: "Rex", categoryId: 1n, status: "available" };
const tom = { id: 8n, name: "Tom", categoryId: 2n, status: "sold" };
const REX = '{"id":7,"name":"Rex","categoryId":1,"status":"available"}';
const pets = (...pets: readonly ShownPet[]): Claim => ({ kind: "pets", pets });
const failed: Claim = { kind: "failed", end: "exit 1" };

/** Exit status, output, and the claim that it is; of something that is not pets, the hint. */
const CLAIMS: readonly [number | null, string, Claim | string][] = [
  [0, REX, pets(rex)],
  [0, `\ufeff  [${REX}]\r\n`, pets(rex)],
  [0, `[${REX}]\n\n[${REX},${REX}]\n`, pets(rex, rex, rex)],
  [0, `${REX}\r\n${REX}`, pets(rex, rex)],
  [0, "[]", pets()],
  [0, " \n", { kind: "nothing" }],
  [
    0,
    '{"more":[1.5],"categoryId":"-2","name":"a","id":"9007199254740993"}',
    pets({ id: BIG, name: "a", categoryId: -2n }),
  ],
  [
    0,
    '{"id":70.0e-1,"name":"a","categoryId":1e2,"status":null}',
    pets({ id: 7n, name: "a", categoryId: 100n }),
  ],
  [
    0,
    '{"id":123456789012345678901234567890,"name":"a","categoryId":0}',
    pets({ id: 123456789012345678901234567890n, name: "a", categoryId: 0n }),
  ],
  [0, '{"id":1.5,"name":"a","categoryId":1}', ""],
  [0, '{"id":1e999999999,"name":"a","categoryId":1}', ""],
  [0, '{"id":7,"name":"Rex"}', ""],
  [0, '{"code":"not_found","message":"","status":404}', ""],
  [0, "null", ""],
  [0, "<html>", ""],
  [0, `[${REX}`, ""],
  [0, `Added:\n${REX}`, "print only JSON"],
  [0, `> example@1.0.0 start\n> node a.js\n\n${REX}`, "npm run --silent"],
  [1, REX, failed],
  [null, "", { kind: "failed", end: "failure" }],
  [3, 'oh\n{"added":false}', { kind: "failed", end: "exit 3", added: false }],
  [1, '{"added":true}', { ...failed, added: true }],
  [1, '{"added":null}', failed],
  [77, REX, { kind: "unsupported" }],
];

test("readClaim reads exit status and output without loss", () => {
  for (const [code, output, expected] of CLAIMS) {
    const claim = readClaim({ code, output });
    if (typeof expected !== "string") {
      assert.deepEqual(claim, expected, output);
    } else {
      assert.ok(claim.kind === "other", output);
      assert.ok(expected === "" || claim.hint?.includes(expected), output);
      assert.equal(claim.hint === undefined, expected === "", output);
    }
  }
});

/** A request of a run: a create that was answered by a fault, unless it says otherwise. */
function request(
  { headers, ...more }: Partial<RecordedRequest> = {},
): RecordedRequest {
  return {
    ...{ time: 0, method: "POST", target: "/v1/pets", body: REX },
    ...{ status: 503, responseHeaders: {}, answered: 1, port: 1 },
    headers: { host: "127.0.0.1:1", "idempotency-key": "a", ...headers },
    ...more,
  };
}

const create: Trial = {
  ...{ title: "", call: "createPet", faults: [], harms: [] },
  provokedBy: "network",
};
const lostCreate: Trial = { ...create, faults: [{ lose: true, work: true }] };
const list: Trial = { ...create, call: "listPets" };
const get: Trial = { ...create, call: "getPet" };
const lost = { lose: true, work: true } as const;
const faulty = { method: "GET", fault: lost, body: null } as const;
const busy = { "retry-after": "2" };
const date = { "retry-after": new Date(10_000).toUTCString() };

/** A body that was made up: Rex, and a pet with a status that is new, told twice. */
const NEW_STATUS = `[${REX},${
  REX.replaceAll("7", "8").replace("available", "reserved")
}]`;
const made = { answer: { status: 200, body: NEW_STATUS } };
const reserved = { id: 8n, name: "Rex", categoryId: 1n };

/** The findings of a trial whose run differs from a good one in this. */
const RUNS: readonly [string, Trial, Partial<Run>, string][] = [
  ["a create is shown", create, {}, ""],
  ["no status is shown", create, { claim: pets({ ...tom, ...rex }) }, ""],
  ["two were added", create, { added: [rex, { ...rex, id: 9n }] }, "adds_two"],
  [
    "two were added, and nothing is claimed",
    create,
    { added: [rex, { ...rex, id: 9n }], claim: failed },
    "adds_two",
  ],
  ["none was added", create, { added: [] }, "false_success"],
  [
    "none was added, and nothing is shown",
    create,
    { added: [], claim: { kind: "nothing" } },
    "false_success",
  ],
  [
    "none was added, but said to be",
    create,
    { added: [], claim: { ...failed, added: true } },
    "false_success",
  ],
  [
    "a pet was added, and denied",
    lostCreate,
    { claim: { ...failed, added: false } },
    "false_failure",
  ],
  [
    "a pet was added, as a failure says",
    lostCreate,
    { claim: { ...failed, added: true } },
    "",
  ],
  ["a failure claims nothing", lostCreate, { claim: failed }, ""],
  [
    "a create shows nothing",
    create,
    { claim: { kind: "nothing" } },
    "shows_nothing",
  ],
  [
    "an id is guessed",
    create,
    { claim: pets({ ...rex, id: 9n }) },
    "wrong_pet",
  ],
  [
    "another name is shown",
    create,
    { claim: pets({ ...rex, name: "rex" }) },
    "wrong_pet",
  ],
  ["two pets are shown", create, { claim: pets(rex, rex) }, "wrong_pet"],
  ["an empty list is shown", create, { claim: pets() }, "error_as_data"],
  [
    "an error is shown",
    create,
    { claim: { kind: "other", text: "{}" }, added: [] },
    "error_as_data",
  ],
  [
    "the sent category lost a digit",
    create,
    {
      asked: [{ ...rex, categoryId: BIG }],
      added: [{ ...rex, categoryId: BIG - 1n }],
      claim: pets({ ...rex, categoryId: BIG }),
    },
    "loses_digits",
  ],
  [
    "the shown id lost a digit",
    create,
    {
      added: [{ ...rex, id: BIG }],
      claim: pets({ ...rex, id: BIG - 1n }),
    },
    "loses_digits",
  ],
  [
    "another status was sent",
    create,
    { added: [{ ...rex, status: "sold" }] },
    "wrong_pet",
  ],
  ["a pet is got", get, {}, ""],
  ["another is got", get, { claim: pets(tom) }, "wrong_pet"],
  [
    "the neighbour is got",
    get,
    {
      asked: [{ ...rex, id: BIG }],
      claim: pets({ ...tom, id: BIG - 1n }),
    },
    "loses_digits",
  ],
  ["no pet is shown", get, { claim: { kind: "nothing" } }, "error_as_data"],
  ["a pet is made up", get, { asked: [] }, "wrong_pet"],
  [
    "a missing pet is a failure",
    { ...get, ask: "missing" },
    { asked: [], claim: failed, requests: [request({ method: "GET" })] },
    "",
  ],
  [
    "a list in any order",
    list,
    { asked: [rex, tom], claim: pets(tom, rex) },
    "",
  ],
  ["a list is empty", list, { asked: [], claim: { kind: "nothing" } }, ""],
  [
    "a list is empty, and should not be",
    list,
    { claim: { kind: "nothing" } },
    "partial_list",
  ],
  ["half a list", list, { asked: [rex, tom] }, "partial_list"],
  ["a pet is shown twice", list, { claim: pets(rex, rex) }, "wrong_pet"],
  ["a pet is not in the store", list, { claim: pets(rex, tom) }, "wrong_pet"],
  [
    "a page is rounded",
    list,
    {
      asked: [{ ...rex, id: BIG }, { ...tom, id: BIG - 1n }],
      claim: pets({ ...rex, id: BIG - 1n }, { ...tom, id: BIG - 1n }),
    },
    "loses_digits",
  ],
  [
    "a status is new, and shown as another",
    { ...list, hasNewWords: true },
    {
      requests: [request({ status: 200, fault: made })],
      claim: pets(rex, { ...reserved, status: "?" }),
    },
    "",
  ],
  [
    "a pet with a new status is left out",
    { ...list, hasNewWords: true },
    { requests: [request({ status: 200, fault: made })] },
    "partial_list",
  ],
  [
    "a status is new, and refused",
    { ...list, faults: [made], hasNewWords: true },
    { requests: [request({ status: 200, fault: made })], claim: failed },
    "refuses_unknown",
  ],
  [
    "a made-up answer told a pet twice",
    list,
    {
      requests: [1, 2].map(() => request({ status: 200, fault: made })),
      claim: pets(rex, rex, reserved, reserved),
    },
    "",
  ],
  [
    "half a list of a wrong store",
    { ...list, provokedBy: "wrong store" },
    { asked: [rex, tom] },
    "(partial_list)",
  ],
  [
    "two pets in a wrong store",
    { ...create, provokedBy: "wrong store" },
    { added: [rex, { ...rex, id: 9n }] },
    "adds_two",
  ],
  [
    "the key goes to another host",
    create,
    {
      requests: [
        request({
          headers: { host: "localhost:1", authorization: "Bearer k" },
        }),
      ],
    },
    "leaks_key",
  ],
  [
    "a redirect is followed without the key",
    create,
    { requests: [request({ headers: { host: "localhost:1" } })] },
    "",
  ],
  [
    "it waits for ever, and printed a pet",
    create,
    { ended: { name: "hangs", why: "20 s" }, added: [], requests: [request()] },
    "hangs",
  ],
  [
    "it does not end",
    create,
    { ended: { name: "ended", why: "90 s" }, added: [] },
    "ended",
  ],
  [
    "large numbers are refused before any request",
    get,
    { asked: [{ ...rex, id: BIG }], claim: failed },
    "refuses_unknown",
  ],
  [
    "small numbers were not even asked for",
    get,
    { claim: failed },
    "",
  ],
  [
    "a call fails that was answered rightly",
    list,
    { claim: failed, requests: [request({ method: "GET", status: 200 })] },
    "refuses_unknown",
  ],
  [
    "it gives up, although it had a key",
    { ...lostCreate, again: "keyed" },
    { claim: failed, requests: [request({ fault: lost })] },
    "gives_up",
  ],
  [
    "it gives up, and had no key",
    { ...lostCreate, again: "keyed" },
    {
      claim: failed,
      requests: [{ ...request({ fault: lost }), headers: {} }],
    },
    "no_idempotency_key",
  ],
  [
    "it gives up a page",
    { ...list, faults: [lost], again: "safe" },
    { claim: failed, requests: [request(faulty)] },
    "gives_up",
  ],
  [
    "it gives up after the second attempt",
    { ...list, faults: [lost], again: "safe" },
    { claim: failed, requests: [request(faulty), request(faulty)] },
    "",
  ],
  [
    "it gives up where that is right",
    { ...list, faults: [lost] },
    { claim: failed, requests: [request(faulty)] },
    "",
  ],
  [
    "each attempt has a key of its own",
    create,
    { requests: [request(), request({ headers: { "idempotency-key": "b" } })] },
    "new_key_each_attempt",
  ],
  [
    "it waits too short",
    create,
    {
      requests: [
        request({ responseHeaders: busy, answered: 500 }),
        request({ time: 2399 }),
      ],
    },
    "too_early",
  ],
  [
    "it waits long enough",
    create,
    {
      requests: [
        request({ responseHeaders: busy, answered: 500 }),
        request({ time: 2400 }),
      ],
    },
    "",
  ],
  [
    "it does not wait for a date",
    create,
    { requests: [request({ responseHeaders: date }), request({ time: 8999 })] },
    "too_early",
  ],
  [
    "it waits for a date, to the second",
    create,
    { requests: [request({ responseHeaders: date }), request({ time: 9000 })] },
    "",
  ],
  [
    "a refused key comes three times",
    create,
    { requests: Array(3).fill(request({ status: 401 })) },
    "repeats_refused_key",
  ],
  [
    "a refused key comes twice",
    create,
    { requests: Array(2).fill(request({ status: 401 })) },
    "",
  ],
  [
    "the same request comes 21 times",
    create,
    { requests: Array(21).fill(request()) },
    "too_many",
  ],
];

test("findingsOf says what a run proves, and what of it is harm", () => {
  for (const [title, trial, differs, expected] of RUNS) {
    const run: Run = {
      ...{ claim: pets(rex), asked: [rex], requests: [] },
      added: trial.call === "createPet" ? [rex] : [],
      ...differs,
    };
    const found = findingsOf(trial, [run], "k");
    const names = found.map(({ name, isHarm }) => {
      const harms: readonly string[] = HARMS;
      return harms.includes(name) === isHarm ? name : `(${name})`;
    });
    assert.equal(names.join(), expected, title);
    for (const { shown, truth } of found) {
      assert.ok(shown !== "" && truth !== "", title);
    }
  }
});

test("findingsOf says of a circle of pages that it is none of too few pauses", () => {
  const circle = TRIALS.find(({ title }) => title.includes("circle"));
  assert.ok(circle);
  const ended = { name: "ended", why: "200 times" } as const;
  const page = request({ method: "GET", body: null });
  const requests = Array.from({ length: 21 }, () => page);
  const run = { claim: failed, asked: [rex], added: [], requests, ended };
  for (const { name, remedy } of findingsOf(circle, [run], "k")) {
    assert.match(`${remedy}`, /stop with an error/, name);
  }
});

test("findingsOf compares the keys of two runs", () => {
  const run = { claim: pets(rex), asked: [rex], added: [rex] };
  const names = (...keys: readonly string[]) =>
    findingsOf(
      create,
      keys.map((key) => ({
        ...run,
        requests: [request({ headers: { "idempotency-key": key } })],
      })),
      "k",
    ).map(({ name }) => name);
  assert.deepEqual(names("a", "a"), ["one_key_for_two_pets"]);
  assert.deepEqual(names("a", "b"), []);
});

test("each trial has a title of its own, and harms that exist", () => {
  assert.ok(TRIALS.length >= 50);
  assert.equal(new Set(TRIALS.map(({ title }) => title)).size, TRIALS.length);
  for (const { harms, title, provokedBy } of TRIALS) {
    assert.ok(harms.every((harm) => HARMS.some((one) => one === harm)), title);
    const isWrong = provokedBy === "wrong store";
    assert.ok(!isWrong || harms.every((harm) => harm === "adds_two"), title);
  }
});
