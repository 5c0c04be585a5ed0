import assert from "node:assert/strict";
import test from "node:test";
import { checkExact, INT64_MAX, INT64_MIN, isInt64 } from "../../core/json.ts";

test("isInt64 tells a bigint within the bounds from all else", () => {
  assert.equal(isInt64(INT64_MIN), true);
  assert.equal(isInt64(INT64_MAX), true);
  assert.equal(isInt64(INT64_MIN - 1n), false);
  assert.equal(isInt64(INT64_MAX + 1n), false);
  assert.equal(isInt64(1), false);
  assert.equal(isInt64("1"), false);
  assert.equal(isInt64(Object(1n)), false);
});

test("checkExact refuses a runtime that rounds, and says which do not", () => {
  checkExact();
  assert.throws(() => checkExact(JSON.parse), /runtime: use Node 22\.18, Deno/);
});
