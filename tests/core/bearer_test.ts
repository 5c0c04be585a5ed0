import assert from "node:assert/strict";
import test from "node:test";
import { readVerified } from "../../core/keys.ts";
import { ask } from "../contract/ask.ts";
import { assertAnyError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";

const FORBIDDEN = new Error("forbidden");
function forbid(): never {
  throw FORBIDDEN;
}

const VALID = {
  "true": true,
  "a safe integer": { id: 2 ** 53 - 1 },
  "a negative integer": { id: -1 },
  "one character": { id: "x" },
  "64 characters": { id: "x".repeat(64) },
  "more members": { id: 1, valid: false },
  "a caller": { id: "team", caller: "user 1 \u{1f415}" },
  "no caller": { id: 1, caller: undefined },
  "a thenable": { then: (done: (id: unknown) => void) => done({ id: 1 }) },
};

const REFUSED = { "false": false, "undefined": undefined };

const WRONG = {
  "null": null,
  "a number": 1,
  "a string": "true",
  "no id": {},
  "a caller without an id": { caller: "user" },
  "an empty caller": { id: 1, caller: "" },
  "a number as caller": { id: 1, caller: 7 },
  "caller null": { id: 1, caller: null },
  "half a character as caller": { id: 1, caller: "a\ud83d" },
  "valid: false": { valid: false },
  "an inherited id": Object.create({ id: 1 }),
  "a function": Object.assign(() => true, { id: 1 }),
  "an empty id": { id: "" },
  "65 characters": { id: "x".repeat(65) },
  "an unsafe integer": { id: 2 ** 53 },
  "a fraction": { id: 1.5 },
  "id null": { id: null },
  "a bigint as id": { id: 1n },
  "a thenable of none": {
    id: 1,
    then: (done: (result: unknown) => void) => done({ valid: true }),
  },
};

const UNREADABLE = {
  "a getter that throws": {
    get id() {
      return forbid();
    },
  },
  "a thenable that throws": { id: 1, then: forbid },
};

const MESSAGE =
  "Wrong result of keys.verify: it must be true, false, undefined, or an object with an id " +
  "that is a string of 1 to 64 characters or a safe integer, and perhaps a caller that is " +
  "a well-formed string of one or more characters";

/** Results of `verify`, what is answered, and what onError receives. */
const CASES: readonly (readonly [object, number, Error?])[] = [
  [VALID, 200],
  [REFUSED, 401],
  [WRONG, 500, new TypeError(MESSAGE)],
  [UNREADABLE, 500, FORBIDDEN],
];
for (const [results, status, error] of CASES) {
  for (const [what, result] of Object.entries(results)) {
    test(`a key is ${status} if verify returns or promises ${what}`, async () => {
      for (const verify of [() => result, async () => result]) {
        const told: unknown[] = [];
        const onError = (cause: unknown) => void told.push(cause);
        const service = handleService({ keys: { verify }, onError });
        const answer = await ask(service, "GET", "/pets");
        assert.equal(answer.status, status, `${verify}`);
        if (status >= 400) assertAnyError(answer);
        assert.deepEqual(told, error === undefined ? [] : [error], `${verify}`);
      }
    });
  }
}

test("readVerified reads the id once, so that a getter cannot change it later", () => {
  const ids = ["first", Symbol("second")];
  const result = {
    get id() {
      return ids.shift();
    },
  };
  assert.deepEqual(readVerified(result), { id: "first" });
});
