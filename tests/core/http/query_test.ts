import assert from "node:assert/strict";
import test from "node:test";
import { decodeQuery, parseQuery } from "../../../core/http/query.ts";
import { fc, runs } from "../../support/property.ts";

const NAMES = ["limit", "status", "after", "Limit", "lim", "imit"];

function valuesOf(query: ReturnType<typeof parseQuery>): unknown {
  return NAMES.map((name) => query.getAll(name));
}

test("parseQuery takes no question mark away", () => {
  assert.deepEqual(parseQuery("?limit=5").getAll("limit"), []);
  assert.deepEqual(parseQuery("?limit=5").getAll("?limit"), ["5"]);
});

// Law: a query that has nothing to decode says the same to either reader.
test("parseQuery reads every query as URLSearchParams does", () => {
  const part = fc.constantFrom(
    ...["limit", "status", "after", "lim", "Limit", "5", "-7", "sold"],
    ...["&&", "==", "%35", "\ud800", "", ..."=&%+.?;é"],
  );
  const query = fc.oneof(
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(query, (text) => {
      assert.deepEqual(valuesOf(parseQuery(text)), valuesOf(decodeQuery(text)));
    }),
    runs(2000),
  );
});
