import assert from "node:assert/strict";
import test from "node:test";
import { Refusal } from "../../../core/http/refusal.ts";
import {
  checkNewPet,
  parseNewPet,
  parseWithSchema,
} from "../../../core/pets/new_pet.ts";
import { fc, runs } from "../../support/property.ts";

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

test("checkNewPet throws a TypeError with the message of the refusal", () => {
  const bad = { name: "", categoryId: 1n };
  assert.throws(() => checkNewPet(bad), {
    name: "TypeError",
    message: messageFor(bad),
  });
});

// Law: the quick check takes what the schema takes, and nothing else.
test("parseNewPet and parseWithSchema judge alike", () => {
  const name = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.tuple(fc.constantFrom("x", "🐕"), fc.integer({ min: 253, max: 257 }))
      .map(([unit, count]) => unit.repeat(count)),
    fc.constantFrom("", "\u0000", "\u001f", "\u007f", "\ud83d", 7, null),
  );
  const categoryId = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n) - 2n, max: 2n - 2n ** 63n }),
    fc.bigInt({ min: 2n ** 63n - 2n, max: 2n ** 63n + 2n }),
    fc.constantFrom(1, 1.5, "1", null),
  );
  const status = fc.constantFrom("sold", "Sold", "", null, undefined, 0);
  const body = fc.oneof(
    fc.record({ name, categoryId, status, id: fc.nat() }, { requiredKeys: [] }),
    fc.anything(),
  );
  fc.assert(
    fc.property(body, (body) => {
      assert.deepEqual(parseNewPet(body), parseWithSchema(body));
    }),
    runs(2000),
  );
});
