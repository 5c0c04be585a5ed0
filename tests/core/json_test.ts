import assert from "node:assert/strict";
import test from "node:test";
import { parseWithInt64 } from "../../core/json.ts";
import { handleService } from "../support/handle_service.ts";

test("createHandler refuses a runtime that is too old, and says which are not", (t) => {
  const { rawJSON } = JSON as { rawJSON?: unknown };
  t.after(() => void Object.assign(JSON, { rawJSON }));
  Reflect.deleteProperty(JSON, "rawJSON");
  assert.throws(() => handleService(), {
    message:
      "This runtime is too old: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 126, Firefox 135 or Safari 18.4",
  });
});

// JSON.parse with a reviver, even an empty one, takes 7 to 80 times as long for the first of these.
test("parseWithInt64 takes at most 6 times as long as JSON.parse of the same text", () => {
  const parts = ["1.0", "[]", '""', '"\\""', '{"categoryId":1}', '"猫"'];
  const texts = parts.map((part) =>
    `{"categoryId":1.0,"z":[${part}${`,${part}`.repeat(60_000 / part.length)}]}`
  );
  texts.push(`{"categoryId":1.0${',"categoryId":1.0'.repeat(4000)}}`);
  texts.push(`{"categoryId":1.0,"z":"${"1".repeat(65_000)}"}`);
  for (const text of texts) {
    let [least, ours] = [Infinity, Infinity];
    for (let round = 0; round < 30; round++) {
      least = Math.min(least, time(() => JSON.parse(text)));
      ours = Math.min(ours, time(() => parseWithInt64(text, "categoryId")));
    }
    assert.ok(ours < 6 * least, `${text.slice(0, 40)}: ${ours / least}`);
  }
});

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
