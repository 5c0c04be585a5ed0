/** Laws of messages: they show what was sent, but not much of it, and no active characters. */
import assert from "node:assert/strict";
import test from "node:test";
import { quote } from "../../core/pets/problems.ts";
import { ask } from "../contract/ask.ts";
import { assertAnyError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { anyText, codeUnit, fc, runs } from "../support/property.ts";

const unit = fc.oneof(
  codeUnit(0, 0xffff),
  codeUnit(0, 0x9f),
  codeUnit(0xd800, 0xdfff),
);
const text = fc.oneof(
  fc.string({ unit, maxLength: 60 }),
  anyText({ minLength: 35, maxLength: 45 }),
  fc.string({ unit, minLength: 78, maxLength: 90 }),
);

test("quote is the plain JSON of a text, or of 40 code points and an ellipsis", () => {
  fc.assert(
    fc.property(text, (sent) => {
      const points = [...sent];
      const shown = points.length <= 40
        ? sent
        : `${points.slice(0, 40).join("")}…`;
      assert.equal(JSON.parse(quote(sent)), shown);
      assert.doesNotMatch(quote(sent), /[\p{Cc}\p{Cs}]/u);
    }),
    runs(1000),
  );
});

// assertAnyError limits a message to 1000 characters without control characters.
test("a message stays short and plain, whatever was sent and however much of it", async () => {
  const times = fc.oneof(
    { arbitrary: fc.constantFrom(1, 10, 100), weight: 9 },
    { arbitrary: fc.constant(1000), weight: 1 }, // more than a body may have
  );
  const service = handleService();
  await fc.assert(fc.asyncProperty(text, times, async (part, times) => {
    const sent = part.repeat(times).toWellFormed();
    const x = `x${encodeURIComponent(sent)}`;
    const json = JSON.stringify(sent);
    for (const address of [`?limit=${x}&status=${x}&after=${x}`, `/${x}`]) {
      assertAnyError(await ask(service, "GET", `/pets${address}`));
    }
    for (const body of [`{${json}:1,"name":1,"status":${json}}`, json]) {
      assertAnyError(await ask(service, "POST", "/pets", { body }));
    }
  }));
});
