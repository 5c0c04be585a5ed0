import assert from "node:assert/strict";
import test from "node:test";
import * as v from "valibot";
import { Refusal } from "../../../core/http/refusal.ts";
import {
  checkNewPet,
  int64Schema,
  nameSchema,
  parseNewPet,
  statusSchema,
} from "../../../core/pets/new_pet.ts";

const INT64_MAX = 2n ** 63n - 1n;

/** The message of the refusal of a body. */
function messageFor(body: unknown): string {
  const refusal = parseNewPet(body);
  assert.ok(refusal instanceof Refusal);
  assert.equal(refusal.code, "bad_request");
  return refusal.message;
}

test("checkNewPet takes a name and a categoryId, and fills in the status", () => {
  assert.deepEqual(checkNewPet({ name: "Rex", categoryId: 1n }), {
    name: "Rex",
    categoryId: 1n,
    status: "available",
  });
});

test("checkNewPet leaves unknown members out", () => {
  const rex = { name: "Rex", categoryId: 1n, status: "sold" };
  assert.deepEqual(checkNewPet({ id: 7n, ...rex, tags: [] }), rex);
});

test("parseNewPet refuses what is not an object", () => {
  for (const value of [undefined, null, true, 1n, 1.5, "Rex", [], [{}]]) {
    assert.equal(
      messageFor(value),
      "Cannot create pet: the body must be a JSON object",
    );
  }
});

test("parseNewPet names every member that is wrong", () => {
  assert.equal(
    messageFor({ categoryId: 1.5, status: null }),
    "Cannot create pet: name is required; categoryId must be an integer from " +
      "-9223372036854775808 to 9223372036854775807; " +
      "status must be one of available, pending, sold",
  );
});

test("checkNewPet throws a TypeError with the message of the refusal", () => {
  const bad = { name: "", categoryId: 1n };
  assert.throws(() => checkNewPet(bad), {
    name: "TypeError",
    message: messageFor(bad),
  });
});

test("nameSchema takes 1 to 255 code points, exactly as they come", () => {
  for (const name of ["x", " x ", "🐕".repeat(255), "\u0080", "e\u0301"]) {
    assert.equal(v.parse(nameSchema, name), name);
  }
  for (const name of ["", "x".repeat(256), "🐕".repeat(256), "\x00", "\x7f"]) {
    assert.equal(v.is(nameSchema, name), false);
  }
});

test("nameSchema counts code points, not UTF-16 units", () => {
  const mixed = "🐕".repeat(254) + "x";
  assert.equal(mixed.length, 509);
  assert.equal(v.is(nameSchema, mixed), true);
  assert.equal(v.is(nameSchema, `${mixed}x`), false);
  assert.equal(v.is(nameSchema, "🐕" + "x".repeat(255)), false);
});

test("nameSchema refuses lone surrogates in either order", () => {
  for (const name of ["\ud83d", "\udc15", "\udc15\ud83d", "x\ud83d"]) {
    assert.equal(v.is(nameSchema, name), false);
  }
});

test("statusSchema takes the three states and nothing else", () => {
  for (const status of ["available", "pending", "sold"]) {
    assert.equal(v.is(statusSchema, status), true);
  }
  for (const status of ["", "Sold", "toString", null, undefined, 0, ["sold"]]) {
    assert.equal(v.is(statusSchema, status), false);
  }
});

test("int64Schema takes a bigint within the bounds and no number", () => {
  for (const value of [0n, INT64_MAX, -INT64_MAX - 1n]) {
    assert.equal(v.is(int64Schema, value), true);
  }
  for (const value of [0, 1.5, "1", INT64_MAX + 1n, -INT64_MAX - 2n]) {
    assert.equal(v.is(int64Schema, value), false);
  }
});
