import assert from "node:assert/strict";
import test from "node:test";
import { parsePage } from "../../../core/pets/page.ts";

test("parsePage decodes names and values", () => {
  const page = { limit: 7, status: "sold" };
  assert.deepEqual(parsePage("l%69mit=%37&status=so%6cd&lim=5"), page);
});
