import assert from "node:assert/strict";
import test from "node:test";
import { handleService } from "../contract/handle_service.ts";

test("createHandler refuses a runtime that rounds, and says which do not", (t) => {
  const { parse } = JSON;
  t.mock.method(JSON, "parse", (text: string) => parse(text));
  assert.throws(() => handleService(), {
    message:
      "Cannot read 64-bit integers exactly on this runtime: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 126, Firefox 135 or Safari 18.4",
  });
});
