import assert from "node:assert/strict";
import test from "node:test";
import { parseQuery } from "../../../core/http/query.ts";

test("parseQuery takes no question mark away", () => {
  assert.deepEqual(parseQuery("?limit=5").getAll("limit"), []);
  assert.deepEqual(parseQuery("?limit=5").getAll("?limit"), ["5"]);
});

test("parseQuery decodes names and values, and keeps all values in order", () => {
  const query = parseQuery("limit=5&l%69mit=%37&limit&status=a+b");
  assert.deepEqual(query.getAll("limit"), ["5", "7", ""]);
  assert.deepEqual(query.getAll("status"), ["a b"]);
  assert.deepEqual(query.getAll("lim"), []);
});
