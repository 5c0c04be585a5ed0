import assert from "node:assert/strict";
import test from "node:test";
import { INT64_MAX, INT64_MIN, isInt64 } from "../../core/json.ts";
import { handleService } from "../contract/handle_service.ts";

test("isInt64 tells a bigint within the bounds from all else", () => {
  assert.equal(isInt64(INT64_MIN), true);
  assert.equal(isInt64(INT64_MAX), true);
  assert.equal(isInt64(INT64_MIN - 1n), false);
  assert.equal(isInt64(INT64_MAX + 1n), false);
  assert.equal(isInt64(1), false);
  assert.equal(isInt64("1"), false);
  assert.equal(isInt64(Object(1n)), false);
});

test("createHandler refuses a runtime that rounds, and says which do not", (t) => {
  const { parse } = JSON;
  t.mock.method(JSON, "parse", (text: string) => parse(text));
  assert.throws(() => handleService(), {
    message:
      "Cannot read 64-bit integers exactly on this runtime: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 114, Firefox 135 or Safari 18.4",
  });
});
