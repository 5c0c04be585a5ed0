/** Laws of `limit`: the contract's bounds, and the decision on canonical decimal form. */
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc } from "../support/property.ts";

/** All there is: the hundred texts, written out. */
const ACCEPTED: ReadonlySet<string> = new Set(
  Array.from({ length: 100 }, (_, index) => `${index + 1}`),
);

async function judge(text: string, query: string): Promise<void> {
  const answer = await ask(handleService(), "GET", `/pets?${query}`);
  if (ACCEPTED.has(text)) {
    assert.equal(answer.status, 200, text);
  } else {
    assert.match(assertError(answer, "bad_request"), /limit .*1 to 100/);
  }
}

// Law: an integer is a limit exactly where it is from 1 to 100 (the contract, Limits).
test("listPets takes an integer as limit exactly from 1 to 100", async () => {
  const integer = fc.oneof(
    fc.integer({ min: -5, max: 105 }),
    fc.bigInt(),
    fc.maxSafeInteger(),
  );
  await fc.assert(fc.asyncProperty(integer, async (value) => {
    await judge(`${value}`, `limit=${value}`);
  }));
});

// Law: a text is a limit exactly where it is one of "1", "2", … "100" (decision: canonical decimal).
test("listPets takes a text as limit exactly where it is 1 to 100 in canonical decimal", async () => {
  const near = fc.tuple(
    fc.constantFrom("", "+", "-", "0", " ", "00", "\ufeff", "\n"),
    fc.integer({ min: 0, max: 101 }).map(String),
    fc.constantFrom("", ".0", ".", "e0", "E1", "n", " ", "\n", "\0", "_", ",1"),
  ).map((parts) => parts.join(""));
  const text = fc.oneof(near, fc.string(), fc.string({ unit: "binary" }));
  await fc.assert(fc.asyncProperty(text, async (value) => {
    await judge(value, `limit=${encodeURIComponent(value)}`);
  }));
});

// Law: how a query spells a text (RFC 3986 §2.1) changes nothing.
test("listPets takes a limit however its characters are percent-encoded", async () => {
  const spelled = fc.array(
    fc.tuple(fc.constantFrom(..."0123456789"), fc.boolean()),
    { maxLength: 4 },
  );
  await fc.assert(fc.asyncProperty(spelled, async (digits) => {
    const text = digits.map(([digit]) => digit).join("");
    const query = digits.map(([digit, isEncoded]) =>
      isEncoded ? `%${digit.charCodeAt(0).toString(16)}` : digit
    ).join("");
    await judge(text, `limit=${query}`);
  }));
});
