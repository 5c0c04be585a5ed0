import assert from "node:assert/strict";
import test from "node:test";
import { readKeyId } from "../../../core/keys/authenticate.ts";
import type { HandlerOptions } from "../../../core/handler.ts";
import { ask } from "../../contract/ask.ts";
import { assertError } from "../../contract/error_reply.ts";
import { handleService } from "../../support/handle_service.ts";

type Verify = HandlerOptions["keys"]["verify"];

/** Sends a key for which `verify` returns this; returns the answer and what onError received. */
async function askWith(result: unknown) {
  const told: unknown[][] = [];
  const service = handleService({
    keys: { verify: (() => result) as Verify },
    onError: (...all) => void told.push(all),
  });
  const answer = await ask(service, "GET", "/pets");
  return { answer, told };
}

test("a key is valid if verify returns true or an object with an id, or promises it", async () => {
  const valid = {
    true: true,
    "a safe integer": { id: 2 ** 53 - 1 },
    "a negative integer": { id: -1 },
    "one character": { id: "x" },
    "64 characters": { id: "x".repeat(64) },
    "more members": { id: 1, valid: false },
    "a getter": {
      get id() {
        return 1;
      },
    },
    "a proxy": new Proxy({ id: 1 }, {}),
    "a thenable": { then: (done: (id: unknown) => void) => done({ id: 1 }) },
  };
  for (const [what, result] of Object.entries(valid)) {
    for (const returned of [result, Promise.resolve(result)]) {
      const { answer, told } = await askWith(returned);
      assert.deepEqual([answer.status, told], [200, []], what);
    }
  }
});

test("a key is refused with 401 if verify returns false or undefined, or promises it", async () => {
  for (const result of [false, undefined]) {
    for (const returned of [result, Promise.resolve(result)]) {
      const { answer, told } = await askWith(returned);
      assertError(answer, "unauthorized");
      assert.deepEqual(told, []);
    }
  }
});

const FORBIDDEN = new Error("forbidden");
function forbid(): never {
  throw FORBIDDEN;
}

test("a key opens nothing if verify returns anything else: that is a 500", async () => {
  const wrong = {
    null: null,
    "a number": 1,
    zero: 0,
    "a bigint": 1n,
    "an empty string": "",
    "a string": "true",
    "a symbol": Symbol("id"),
    "a boxed true": new Boolean(true),
    "an array": [1],
    "no id": {},
    "valid: false": { valid: false },
    "valid: true": { valid: true },
    "an inherited id": Object.create({ id: 1 }),
    "an id of a class": new (class {
      get id() {
        return 1;
      }
    })(),
    "a function": Object.assign(() => true, { id: 1 }),
    "an empty id": { id: "" },
    "65 characters": { id: "x".repeat(65) },
    "an unsafe integer": { id: 2 ** 53 },
    "a fraction": { id: 1.5 },
    "no number": { id: NaN },
    "id true": { id: true },
    "id null": { id: null },
    "id undefined": { id: undefined },
    "a bigint as id": { id: 1n },
    "an object as id": { id: new String("x") },
    "a proxy that has none": new Proxy({}, { get: () => 1 }),
    "a thenable of none": {
      id: 1,
      then: (done: (result: unknown) => void) => done({ valid: true }),
    },
  };
  const message =
    "Wrong result of keys.verify: it must be true, false, undefined, or an object with an id " +
    "that is a string of 1 to 64 characters or a safe integer";
  for (const [what, result] of Object.entries(wrong)) {
    for (const returned of [result, Promise.resolve(result)]) {
      const { answer, told: [[cause] = []] } = await askWith(returned);
      assertError(answer, "internal_error");
      assert.deepEqual(cause, new TypeError(message), what);
    }
  }
});

test("a key opens nothing if what verify returns cannot be read", async () => {
  const failing = {
    "a getter": {
      get id() {
        return forbid();
      },
    },
    "a proxy": new Proxy({ id: 1 }, { getOwnPropertyDescriptor: forbid }),
    "a proxy's get": new Proxy({ id: 1 }, { get: forbid }),
    "a thenable": { id: 1, then: forbid },
  };
  for (const [what, result] of Object.entries(failing)) {
    const { answer, told: [[cause] = []] } = await askWith(result);
    assertError(answer, "internal_error");
    assert.equal(cause, FORBIDDEN, what);
  }
});

test("readKeyId reads the id once, so that a getter cannot change it later", () => {
  const ids = ["first", Symbol("second")];
  const result = {
    get id() {
      return ids.shift();
    },
  };
  assert.equal(readKeyId(result), "first");
});
