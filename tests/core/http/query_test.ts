import assert from "node:assert/strict";
import test from "node:test";
import { decodeQuery, parseQuery } from "../../../core/http/query.ts";
import { fc, runs } from "../../support/property.ts";

const NAMES = ["limit", "status", "after", "Limit", "lim", "imit"];

function valuesOf(query: ReturnType<typeof parseQuery>): unknown {
  return NAMES.map((name) => query.getAll(name));
}

test("parseQuery gives all values of a parameter, in order", () => {
  const query = parseQuery("limit=5&status=sold&limit=&limit&limit=a=b");
  assert.deepEqual(query.getAll("limit"), ["5", "", "", "a=b"]);
  assert.deepEqual(query.getAll("status"), ["sold"]);
  assert.deepEqual(query.getAll("after"), []);
});

test("parseQuery decodes what is percent-encoded, and + as a space", () => {
  const query = parseQuery("l%69mit=%35+&after=%F0%9F%90%95");
  assert.deepEqual(query.getAll("limit"), ["5 "]);
  assert.deepEqual(query.getAll("after"), ["🐕"]);
});

test("parseQuery decodes + where nothing else is to be decoded", () => {
  assert.deepEqual(parseQuery("limit=1+2").getAll("limit"), ["1 2"]);
  assert.deepEqual(parseQuery("li+mit=1&limit=2").getAll("limit"), ["2"]);
});

test("parseQuery takes no question mark away", () => {
  assert.deepEqual(parseQuery("?limit=5").getAll("limit"), []);
  assert.deepEqual(parseQuery("?limit=5").getAll("?limit"), ["5"]);
});

// Law: a query that has nothing to decode says the same to either reader.
test("parseQuery reads every query as URLSearchParams does", () => {
  const part = fc.constantFrom(
    ...["limit", "status", "after", "lim", "Limit", "5", "-7", "sold"],
    ...[
      "=",
      "&",
      "&&",
      "==",
      "%",
      "%35",
      "+",
      ".",
      "?",
      ";",
      "é",
      "\ud800",
      "",
    ],
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
