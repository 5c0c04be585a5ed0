/** That exact integers take time in proportion to the text; `laws/validation_test.ts` tells what is read. */
import assert from "node:assert/strict";
import test from "node:test";
import { parseWithInt64 } from "../../core/int64.ts";

const PET =
  '{"id":9007199254740993,"name":"Rex","categoryId":-9007199254740993}';

/** Makes a text of about this length. */
type Make = (length: number) => string;

const listOf = (item: string): Make => (length) =>
  `[${Array(Math.ceil(length / item.length)).fill(item).join()}]`;
const besideId = (make: Make): Make => (length) =>
  `{"id":1.0,"z":${make(length)}}`;
const PARTS = [
  "1.0",
  "[]",
  '""',
  '"\\""',
  '{"id":1}',
  '"猫"',
  "1,  1",
  "[[1]]",
];

const TEXTS: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(
    PARTS.map((part) => [`many ${part} beside an id`, besideId(listOf(part))]),
  ),
  "a list of pets": listOf(PET),
  "ids in an object": (length) =>
    listOf('"id":1.0')(length)
      .replace("[", "{").replace("]", "}"),
  "an id of many 0": (length) => `{"id":1.${"0".repeat(length)}}`,
  "an id of many 1": (length) => `{"id":1.${"1".repeat(length)}}`,
  "an id before blanks": (length) => `{"id":1.0${" ".repeat(length)}}`,
  "a long string": besideId((length) => `"${"1".repeat(length)}"`),
  "a string of \\": besideId((length) => `"${"\\\\".repeat(length / 2)}"`),
};
for (const [what, make] of Object.entries(TEXTS)) {
  test(`parseWithInt64 takes linear time for ${what}`, () => {
    assertLinear(make);
  });
}

/**
 * Asserts that a text eight times as long takes 8 times as long, not 64 times. Compares the least
 * times of many rounds, which are what the machine can do undisturbed.
 */
function assertLinear(make: Make): void {
  // Bodies come as bytes, which make flat strings; a string put together is slower to read.
  const flat = (text: string) =>
    new TextDecoder().decode(new TextEncoder().encode(text));
  const [short, long] = [flat(make(2 ** 12)), flat(make(2 ** 15))];
  let [least, most] = [Infinity, Infinity];
  for (let round = 0; round < 100; round++) {
    least = Math.min(
      least,
      time(() => parseWithInt64(short, "id", "categoryId")),
    );
    most = Math.min(most, time(() => parseWithInt64(long, "id", "categoryId")));
    // The first rounds come before the compiler has done its work, which favours the long text.
    if (round >= 3 && most < 24 * least) return;
  }
  assert.fail(`${long.slice(0, 40)}: ${most / least} times as long`);
}

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
