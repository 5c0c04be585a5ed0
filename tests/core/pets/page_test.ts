import assert from "node:assert/strict";
import test from "node:test";
import { Refusal } from "../../../core/http/refusal.ts";
import { nextPage, parsePage } from "../../../core/pets/page.ts";
import { petId } from "../../../core/pets/pet.ts";

function parse(query: string): ReturnType<typeof parsePage> {
  return parsePage(new URLSearchParams(query));
}

test("parsePage keeps after exact beyond 2^53", () => {
  assert.deepEqual(parse("after=9007199254740993"), {
    limit: 20,
    after: 9007199254740993n,
  });
});

test("parsePage names the parameter, the bounds and what was sent", () => {
  const refusal = parse("limit=101");
  assert.ok(refusal instanceof Refusal);
  assert.equal(refusal.code, "bad_request");
  assert.equal(
    refusal.message,
    'Cannot list pets: limit must be one integer from 1 to 100, not "101"',
  );
});

test("parsePage says how often a parameter was sent", () => {
  const refusal = parse("limit=5&limit=5&limit=5");
  assert.ok(refusal instanceof Refusal);
  assert.match(refusal.message, /limit must be one integer .* not 3 values$/);
});

test("nextPage writes the query of the page after an animal", () => {
  const last = petId(9007199254740993n);
  assert.equal(
    nextPage({ limit: 5 }, last),
    "limit=5&after=9007199254740993",
  );
  assert.equal(
    nextPage({ limit: 5, status: "sold", after: 3n }, last),
    "limit=5&status=sold&after=9007199254740993",
  );
});
