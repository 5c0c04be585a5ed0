import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
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

const rex = { name: "Rex", categoryId: 1n };
const cases = [
  [7, "the body must be a JSON object"],
  [[], "the body must be a JSON object"],
  [{}, "name is required; categoryId is required"],
  [{ ...rex, name: 7 }, "name must be a string"],
  [{ ...rex, name: "" }, "name must not be empty"],
  [
    { ...rex, name: "\ud800" },
    "name must be well-formed Unicode, without lone surrogates",
  ],
  [
    { ...rex, name: "\u007f" },
    "name must not contain control characters (U+0000 to U+001F, U+007F)",
  ],
  [
    { ...rex, name: "x".repeat(256) },
    "name must have at most 255 characters (Unicode code points)",
  ],
  [
    { ...rex, categoryId: 1 },
    "categoryId must be an integer from -9223372036854775808 to 9223372036854775807",
  ],
  [
    { ...rex, status: "lost" },
    "status must be one of available, pending, sold",
  ],
] as const;
for (const [body, problem] of cases) {
  const shown = inspect(body, { maxStringLength: 9 });
  test(`a refusal says that ${problem} if the body is ${shown}`, () => {
    assert.equal(messageFor(body), `Cannot create pet: ${problem}`);
  });
}
