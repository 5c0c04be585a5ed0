import assert from "node:assert/strict";
import test from "node:test";
import {
  PET_STATUSES,
  petId,
  petsToJson,
  petToJson,
} from "../../../core/pets/pet.ts";
import { anyText, fc, runs } from "../../support/property.ts";

const INT64_MAX = 2n ** 63n - 1n;

test("petId takes 1 to 2^63 - 1 and throws a RangeError for the rest", () => {
  assert.equal(petId(1n), 1n);
  assert.equal(petId(INT64_MAX), INT64_MAX);
  for (const value of [0n, -1n, INT64_MAX + 1n]) {
    assert.throws(() => petId(value), {
      name: "RangeError",
      message: `A pet id must be from 1 to 9223372036854775807, not ${value}`,
    }, `${value}`);
  }
});

// Law: integers are written exactly, whether JSON.stringify can do it or not.
test("petToJson and petsToJson write all digits of all integers", () => {
  const integer = fc.oneof(
    fc.bigInt({ min: -9n, max: 99n }),
    fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
    fc.bigInt({ min: -(2n ** 53n) - 2n, max: 2n - 2n ** 53n }),
    fc.bigInt({ min: -INT64_MAX - 1n, max: INT64_MAX }),
  );
  const pet = fc.record({
    id: integer.filter((id) => id > 0n).map(petId),
    name: anyText(),
    categoryId: integer,
    status: fc.constantFrom(...PET_STATUSES),
  }, { noNullPrototype: true });
  fc.assert(
    fc.property(fc.array(pet, { maxLength: 5 }), (pets) => {
      const written = pets.map(({ id, name, categoryId, status }) =>
        `{"id":${id},"name":${
          JSON.stringify(name)
        },"categoryId":${categoryId},"status":"${status}"}`
      );
      assert.deepEqual(pets.map(petToJson), written);
      assert.equal(petsToJson(pets), `[${written.join(",")}]`);
    }),
    runs(1000),
  );
});
