import assert from "node:assert/strict";
import test from "node:test";
import { IdempotencyKeys } from "../../../adapters/memory/idempotency_keys.ts";
import { type Pet, petId } from "../../../core/pets/pet.ts";
import { REX } from "../../support/new_pet.ts";

function pet(id: bigint): Pet {
  return { id: petId(id), ...REX };
}

test("a key is found until its retention is over, and then takes no memory", () => {
  let time = 0;
  const keys = new IdempotencyKeys(10, () => time);
  for (const n of [1n, 2n, 3n]) keys.keep(`old ${n}`, pet(n));
  time = 9;
  keys.keep("young", pet(4n));
  assert.deepEqual(keys.find("old 1"), pet(1n));
  assert.equal(keys.size, 4);
  time = 10;
  assert.equal(keys.find("old 1"), undefined);
  assert.deepEqual(keys.find("young"), pet(4n));
  assert.equal(keys.size, 1);
});

test("a key that was sent again after it expired is kept as long as a new one", () => {
  let time = 0;
  const keys = new IdempotencyKeys(10, () => time);
  keys.keep("again", pet(1n));
  time = 5;
  keys.keep("other", pet(2n));
  time = 12;
  assert.equal(keys.find("again"), undefined);
  keys.keep("again", pet(3n));
  time = 16;
  assert.equal(keys.find("other"), undefined);
  assert.deepEqual(keys.find("again"), pet(3n));
});
