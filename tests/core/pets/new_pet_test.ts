import assert from "node:assert/strict";
import test from "node:test";
import { Refusal } from "../../../core/http/refusal.ts";
import { checkNewPet, parseNewPet } from "../../../core/pets/new_pet.ts";

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
