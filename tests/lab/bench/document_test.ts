import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { readSpeed, render } from "./document.ts";
import { storedText } from "./speed.ts";

test("docs/speed.md, its picture and the README have the figures of speed.json", () => {
  for (const [file, text] of render(readSpeed())) {
    const advice = `write ${file} by: deno task bench --render`;
    assert.equal(readFileSync(file, "utf8"), text, advice);
  }
});

test("the figures of speed.json are kept as text without a loss", () => {
  assert.deepEqual(JSON.parse(storedText(readSpeed())), readSpeed());
});
