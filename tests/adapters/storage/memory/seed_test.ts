import assert from "node:assert/strict";
import test from "node:test";
import { checkSeed } from "../../../../adapters/storage/memory/seed.ts";
import { INT64_MAX } from "../../../../core/int64.ts";
import { REX } from "../../../support/pets.ts";

test("a pet that is no object is named", () => {
  for (const wrong of [7, null, []]) {
    const message = "Cannot seed pets: pet 1: it must be a JSON object";
    assert.throws(() => checkSeed([wrong]), { message }, `${wrong}`);
  }
});

test("a member that no pet has is refused, because a test would not notice it", () => {
  const pet = { name: "Rex", categoryId: 1n, statsu: "sold" };
  assert.throws(() => checkSeed([pet]), {
    name: "TypeError",
    message:
      "Cannot seed pets: pet 1: statsu is unknown; use id, name, categoryId, status",
  });
});

test("the pets of a seed have ascending ids, by default the next", () => {
  const pet = { name: "Rex", categoryId: 1n };
  const seeds = [pet, { ...pet, id: 7n }, pet, { ...pet, id: INT64_MAX }];
  const ids = checkSeed(seeds).pets.map(({ id }) => id);
  assert.deepEqual(ids, [1n, 7n, 8n, INT64_MAX]);
  const forms = [[7, ", as a bigint such as 7n"], ["7", ", without quotes"]];
  const wrong = [0n, -1n, 1n, INT64_MAX + 1n, 7.5, null].map((id) => [id, ""]);
  for (const [id, form] of [...wrong, ...forms]) {
    assert.throws(() => checkSeed([pet, { ...pet, id }]), {
      name: "TypeError",
      message:
        `Cannot seed pets: pet 2: id must be an integer greater than 1, at most 9223372036854775807${form}`,
    }, `${id}`);
  }
  assert.throws(() => checkSeed([{ ...pet, id: INT64_MAX }, pet]), TypeError);
});

test("nextId is above the ids of the pets, and by default the next", () => {
  const last = INT64_MAX - 1n;
  const pets = [{ name: "Rex", categoryId: 1n, id: last }];
  assert.equal(checkSeed([]).nextId, 1n);
  assert.equal(checkSeed(pets).nextId, INT64_MAX);
  assert.equal(checkSeed([REX, REX], 7n).nextId, 7n);
  const none = checkSeed([{ ...REX, id: INT64_MAX }]);
  assert.deepEqual(checkSeed(none.pets, none.nextId), none);
  const above = "greater than 9223372036854775806, at most 9223372036854775807";
  for (const wrong of [last, INT64_MAX + 1n, 7, null, "x"]) {
    const message = new RegExp(
      `^TypeError: Cannot seed pets: nextId must be an integer ${above}`,
    );
    assert.throws(() => checkSeed(pets, wrong), message, `${wrong}`);
  }
});
