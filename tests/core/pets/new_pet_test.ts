import assert from "node:assert/strict";
import test from "node:test";
import { checkNewPet } from "../../../core/pets/new_pet.ts";

test("checkNewPet leaves unknown members out", () => {
  const rex = { name: "Rex", categoryId: 1n, status: "sold" };
  assert.deepEqual(checkNewPet({ id: 7n, ...rex, tags: [] }), rex);
});

test("checkNewPet throws a TypeError with the client's message, and asks for a bigint", () => {
  assert.throws(() => checkNewPet({ name: "", categoryId: 1 }), {
    name: "TypeError",
    message:
      "Cannot create pet: name must not be empty; categoryId must be an integer from -9223372036854775808 to 9223372036854775807, as a bigint such as 7n",
  });
});
