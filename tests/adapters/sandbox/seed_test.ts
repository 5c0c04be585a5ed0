import assert from "node:assert/strict";
import test from "node:test";
import { makeSeed } from "../../../adapters/sandbox/seed.ts";
import { INT64_MAX } from "../../../core/int64.ts";

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

test("a pet that is no object is named", () => {
  for (const wrong of [7, null, []]) {
    const message = "Cannot seed pets: pet 1: it must be a JSON object";
    assert.throws(() => makeSeed([wrong], 9), { message });
  }
});

test("a member that no pet has is refused, because a test would not notice it", () => {
  const pet = { name: "Rex", categoryId: 1n, statsu: "sold" };
  assert.throws(() => makeSeed([pet], 9), {
    name: "TypeError",
    message:
      "Cannot seed pets: pet 1: statsu is unknown; use id, name, categoryId, status",
  });
});

test("the pets of a seed have ascending ids, by default the next", () => {
  const pet = { name: "Rex", categoryId: 1n };
  const seeds = [pet, { ...pet, id: 7n }, pet, { ...pet, id: INT64_MAX }];
  const ids = makeSeed(seeds, 4).pets.map(({ id }) => id);
  assert.deepEqual(ids, [1n, 7n, 8n, INT64_MAX]);
  const forms = [[7, ", as a bigint such as 7n"], ["7", ", without quotes"]];
  const wrong = [0n, -1n, 1n, INT64_MAX + 1n, 7.5, null].map((id) => [id, ""]);
  for (const [id, form] of [...wrong, ...forms]) {
    assert.throws(() => makeSeed([pet, { ...pet, id }], 2), {
      name: "TypeError",
      message:
        `Cannot seed pets: pet 2: id must be an integer greater than 1, at most 9223372036854775807${form}`,
    });
  }
  assert.throws(() => makeSeed([{ ...pet, id: INT64_MAX }, pet], 2), TypeError);
});

test("nextId is above the ids of the pets, and by default the next", () => {
  const last = INT64_MAX - 1n;
  const pets = [{ name: "Rex", categoryId: 1n, id: last }];
  assert.equal(makeSeed(0, 1).nextId, 1n);
  assert.equal(makeSeed(pets, 1).nextId, INT64_MAX);
  assert.equal(makeSeed(2, 2, 7n).nextId, 7n);
  const above = "greater than 9223372036854775806, at most 9223372036854775807";
  for (const wrong of [last, INT64_MAX + 1n, 7, null, "x"]) {
    const message = new RegExp(
      `^TypeError: Cannot seed pets: nextId must be an integer ${above}`,
    );
    assert.throws(() => makeSeed(pets, 1, wrong), message);
  }
});

test("a seed is a number or an array, and no larger than the maximum", () => {
  const seeds = [-1, 1.5, NaN, 4, "3", null, {}, { length: 2 }, [1, 2, 3, 4]];
  for (const wrong of seeds) {
    assert.throws(() => makeSeed(wrong, 3), {
      name: "TypeError",
      message:
        "Cannot seed pets: it must be an array of NewPet, or their number, at most 3",
    });
  }
});
