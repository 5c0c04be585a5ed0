import assert from "node:assert/strict";
import test from "node:test";
import {
  INT64_MAX,
  INT64_MIN,
  isInt64,
  parseJson,
} from "../../../core/pets/int64.ts";

test("isInt64 tells a bigint within the bounds from all else", () => {
  assert.equal(isInt64(INT64_MIN), true);
  assert.equal(isInt64(INT64_MAX), true);
  assert.equal(isInt64(INT64_MIN - 1n), false);
  assert.equal(isInt64(INT64_MAX + 1n), false);
  assert.equal(isInt64(1), false);
  assert.equal(isInt64("1"), false);
  assert.equal(isInt64(Object(1n)), false);
});

test("parseJson reads an int64 however long its spelling is", () => {
  const spellings: [text: string, value: bigint][] = [
    ["0E-999999999999999999999", 0n],
    ["1e0000000000000000000018", 1000000000000000000n],
    [`1${"0".repeat(60_000)}e-60000`, 1n],
    [`0.${"0".repeat(60_000)}1e60001`, 1n],
    [`1.${"0".repeat(60_000)}`, 1n],
  ];
  for (const [text, value] of spellings) {
    assert.equal(parseJson(text), value, text.slice(0, 40));
  }
});

test("parseJson leaves any other number a number", () => {
  const others: [text: string, value: number][] = [
    ["-1e999999999999999999999", -Infinity],
    ["1e-999999999999999999999", 0],
    ["9".repeat(60_000), Infinity],
    [`1e${"9".repeat(60_000)}`, Infinity],
    [`1e-${"9".repeat(60_000)}`, 0],
    // As near to 1 as 60,000 digits come, and still not 1.
    [`1.${"0".repeat(60_000)}1`, 1],
  ];
  for (const [text, value] of others) {
    assert.equal(parseJson(text), value, text.slice(0, 40));
  }
});

test("parseJson finds numbers at any depth, and the last of duplicate members", () => {
  assert.deepEqual(
    parseJson('{"a":[1,{"b":9007199254740993}],"c":"1","d":null,"e":true}'),
    { a: [1n, { b: 9007199254740993n }], c: "1", d: null, e: true },
  );
  assert.deepEqual(
    parseJson('{"a":9007199254740993,"a":9007199254740995}'),
    { a: 9007199254740995n },
  );
  assert.deepEqual(parseJson('{"a":[1.5],"a":2}'), { a: 2n });
  assert.deepEqual(parseJson('{"a":2,"a":[1.5]}'), { a: [1.5] });
  assert.deepEqual(parseJson('{"a":{"b":1},"a":{"b":2.5}}'), { a: { b: 2.5 } });
});

test("parseJson makes no prototype of a __proto__ member", () => {
  const value = parseJson('{"__proto__":{"name":"Rex"},"n":1}');
  assert.ok(typeof value === "object" && value !== null);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal("name" in value, false);
  assert.deepEqual(Object.keys(value), ["__proto__", "n"]);
});

test("parseJson throws a RangeError where the nesting uses up the stack", () => {
  const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
  assert.throws(() => parseJson(deep), RangeError);
});
