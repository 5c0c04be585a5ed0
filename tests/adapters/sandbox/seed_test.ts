import assert from "node:assert/strict";
import test from "node:test";
import { makeSeed } from "../../../adapters/sandbox/seed.ts";

test("a seed of fifty has what clients get wrong, and is always the same", () => {
  const { pets } = makeSeed(50, 50);
  assert.equal(pets.length, 50);
  assert.deepEqual(makeSeed(50, 100).pets, pets);
  const names = pets.map(({ name }) => name);
  assert.ok(names.includes("Zo\u00eb") && names.includes("Zoe\u0308"));
  assert.ok(names.some((name) => [...name].length === 255));
  const parts = [
    /\p{Script=Han}/u,
    /\p{Script=Arabic}/u,
    /["']/,
    /\p{RGI_Emoji}/v,
  ];
  for (const part of parts) {
    assert.ok(names.some((name) => part.test(name)), `${part}`);
  }
  const statuses = new Set(pets.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), ["available", "pending", "sold"]);
  const categories = pets.map(({ categoryId }) => categoryId);
  const exact = 2n ** 53n;
  assert.ok(categories.includes(0n));
  assert.ok(categories.some((id) => id > exact));
  assert.ok(categories.some((id) => id > 0n && id < exact));
  assert.ok(categories.some((id) => id < 0n && id > -exact));
  assert.ok(categories.some((id) => id < -exact));
});

test("a seed is a number or an array, and no larger than the maximum", () => {
  const seeds = [-1, 1.5, NaN, 4, "3", null, {}, { length: 2 }, [1, 2, 3, 4]];
  for (const wrong of seeds) {
    assert.throws(() => makeSeed(wrong, 3), {
      name: "TypeError",
      message:
        "Cannot seed pets: it must be an array of NewPet, or their number, at most 3",
    }, JSON.stringify(wrong));
  }
});
