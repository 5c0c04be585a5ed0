/**
 * Law: `limit` bounds every page, and any text that is not a canonical integer from 1 to 100 is
 * refused.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { anyText, fc, runs } from "../support/property.ts";

/** The texts that are accepted; the contract has no others. */
const TAKEN = new Set(Array.from({ length: 100 }, (_, i) => `${i + 1}`));
const STATUSES = ["available", "pending", "sold"] as const;

const near = fc.tuple(
  fc.constantFrom("", "", "", "+", "-", "0", " ", "0x", "\u0661"),
  fc.oneof(
    fc.integer({ min: -1, max: 102 }).map(String),
    fc.bigInt().map(String),
    fc.double().map(String),
  ),
  fc.constantFrom("", "", "", ".0", "e0", "n", " ", "\n", ",1", "\0"),
).map((parts) => parts.join(""));
const text = fc.oneof(
  { arbitrary: fc.constantFrom(...TAKEN), weight: 2 },
  { arbitrary: fc.constantFrom("0", "1", "100", "101"), weight: 1 }, // the bounds
  { arbitrary: near, weight: 4 },
  anyText().map((text) => text.toWellFormed()),
);

test("any text as limit is taken exactly if it is canonical and from 1 to 100", async () => {
  const service = handleService();
  const ids = Array.from({ length: 202 }, (_, i) => i + 1);
  for (const id of ids) {
    const body = `{"name":"Rex","categoryId":1,"status":"${STATUSES[id % 2]}"}`;
    await ask(service, "POST", "/pets", { body });
  }
  const query = fc.tuple(
    fc.option(fc.constantFrom(...STATUSES), { nil: undefined }),
    fc.option(fc.integer({ min: -1, max: 203 }), { nil: undefined }),
  );
  await fc.assert(
    fc.asyncProperty(text, query, async (limit, [status, after]) => {
      const parameters = new URLSearchParams({ limit });
      if (status !== undefined) parameters.set("status", status);
      if (after !== undefined) parameters.set("after", `${after}`);
      const answer = await ask(service, "GET", `/pets?${parameters}`);
      if (!TAKEN.has(limit)) {
        assert.match(assertError(answer, "bad_request"), /\blimit\b/);
        return;
      }
      assert.equal(answer.status, 200, answer.text);
      const matching = ids.filter((id) =>
        id > (after ?? 0) && STATUSES[id % 2] === (status ?? STATUSES[id % 2])
      );
      const pets: { readonly id: number }[] = JSON.parse(answer.text);
      assert.deepEqual(
        pets.map(({ id }) => id),
        matching.slice(0, Number(limit)),
      );
    }),
    runs(1000),
  );
});
