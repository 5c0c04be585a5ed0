/** How long exact integers take to read; `laws/validation_test.ts` tells what is read. */
import assert from "node:assert/strict";
import test from "node:test";
import { parseWithInt64 } from "../../core/json.ts";

// JSON.parse with a reviver, even an empty one, takes 7 to 80 times as long for the first of these.
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

const MIB = 2 ** 20;
const PAGE = Array.from({ length: 100 }, (_, i) => {
  const id = 9007199254740993n + BigInt(2 * i);
  return `{"id":${id},"name":"Rex ${i}","categoryId":-9007199254740993,"status":"available"}`;
});

/** Texts, and how much longer than `JSON.parse` they may take. */
const TEXTS: readonly (readonly [most: number, what: string, text: string])[] =
  [
    ...PARTS.flatMap((part) =>
      [
        [25, `1 MiB of ${part}`, `{"id":1.0,"z":[${repeated(part, MIB)}]}`],
        [6, `64 KiB of ${part}`, `{"id":1.0,"z":[${repeated(part, 60_000)}]}`],
      ] as const
    ),
    [25, "1 MiB of ids in an object", `{${repeated('"id":1.0', MIB)}}`],
    [25, "1 MiB of ids in a list", `[${repeated('{"id":1.0}', MIB)}]`],
    [25, "an id of 1 MiB of 0", `{"id":1.${"0".repeat(MIB)}}`],
    [25, "an id of 1 MiB of 1", `{"id":1.${"1".repeat(MIB)}}`],
    [25, "1 MiB of blanks", `{"id":1.0${" ".repeat(MIB)}}`],
    [6, "a string of 64 KiB", `{"id":1.0,"z":"${"1".repeat(65_000)}"}`],
    [6, "a page of pets", `[${PAGE}]`],
  ];
for (const [most, what, text] of TEXTS) {
  test(`parseWithInt64 takes at most ${most} times as long as JSON.parse for ${what}`, () => {
    assertRatio(most, text, most === 6 ? 2000 : 200);
  });
}

function repeated(part: string, length: number): string {
  return Array(Math.ceil(length / part.length)).fill(part).join();
}

/** Asserts that the least times, in turns, have no higher ratio: again until it is sure, at most so many rounds. */
function assertRatio(most: number, rope: string, rounds: number): void {
  // Bodies come as bytes, which make flat strings; a string put together is slower to read.
  const text = new TextDecoder().decode(new TextEncoder().encode(rope));
  let [least, ours] = [Infinity, Infinity];
  for (let round = 0; round < rounds; round++) {
    least = Math.min(least, time(() => JSON.parse(text)));
    ours = Math.min(ours, time(() => parseWithInt64(text, "id", "categoryId")));
    // The first rounds come before the compiler has done its work, which may favour one of the two.
    if (round >= 3 && ours < most * least) return;
  }
  assert.fail(`${text.slice(0, 40)}: ${ours / least}`);
}

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
