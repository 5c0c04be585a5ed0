import assert from "node:assert/strict";
import test from "node:test";
import { parsePage } from "../../../core/pets/page.ts";

test("parsePage decodes names and values", () => {
  const page = { limit: 7, status: "sold" };
  assert.deepEqual(parsePage("l%69mit=%37&status=so%6cd&lim=5"), page);
});

test("parsePage names every value if a parameter is repeated", () => {
  const refusal = parsePage("limit=5&l%69mit=7&status=+sold");
  assert.equal(
    "message" in refusal && refusal.message,
    "Cannot list pets: limit must be one integer from 1 to 100, not 2 values; " +
      'status must be one of available, pending, sold, not " sold"',
  );
});
