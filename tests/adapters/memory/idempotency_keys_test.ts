import assert from "node:assert/strict";
import test from "node:test";
import { IdempotencyKeys } from "../../../adapters/memory/idempotency_keys.ts";

test("old keys are forgotten two at a time, and no others", () => {
  let time = 0;
  const keys = new IdempotencyKeys(10, () => time);
  for (let i = 0; i < 5; i++) keys.keep(`old ${i}`, i);
  time = 9;
  keys.keep("young", 5);
  assert.equal(keys.find("old 0"), 0);
  assert.equal(keys.size, 6);
  time = 10;
  assert.equal(keys.find("old 0"), undefined);
  for (const size of [5, 4, 4]) {
    keys.keep(`new ${size}${keys.size}`, 6);
    assert.equal(keys.size, size);
  }
  assert.equal(keys.find("young"), 5);
});
