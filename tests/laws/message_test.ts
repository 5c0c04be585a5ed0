/** Laws of messages: they show what was sent, but not much of it, and nothing that acts. */
import assert from "node:assert/strict";
import test from "node:test";
import { quote } from "../../core/http/refusal.ts";
import { ask } from "../contract/ask.ts";
import { assertAnyError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, runs } from "../support/property.ts";

const unit = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }),
  fc.integer({ min: 0, max: 0x9f }),
  fc.integer({ min: 0xd800, max: 0xdfff }),
).map((code) => String.fromCharCode(code));
const text = fc.oneof(
  fc.string({ unit, maxLength: 60 }),
  fc.string({ unit: "binary", minLength: 35, maxLength: 45 }),
  fc.string({ unit, minLength: 78, maxLength: 90 }),
);

// Law: quote(x) is a JSON string of x, or of its first 40 code points and an ellipsis; nothing in it
// is a control character (C0, DEL, C1) or half of a pair.
test("quote is the plain JSON of a text, or of its first 40 code points and an ellipsis", () => {
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

// Law: however long what was sent is, a message is not; assertAnyError holds it to 1000 characters
// without control characters.
test("a message stays short and plain, whatever was sent and however much of it", async () => {
  const long = fc.tuple(text, fc.constantFrom(1, 1, 10, 1000)).map((
    [part, times],
  ) => part.repeat(times).toWellFormed());
  await fc.assert(fc.asyncProperty(long, async (sent) => {
    const service = handleService();
    const encoded = encodeURIComponent(sent);
    const asked = [
      `/pets?limit=x${encoded}&status=x${encoded}&after=x${encoded}`,
      `/pets/x${encoded}`,
      `/x${encoded}`,
    ];
    for (const address of asked) {
      assertAnyError(await ask(service, "GET", address));
    }
    const bodies = [
      `{${JSON.stringify(sent)}:1,"name":1,"status":${JSON.stringify(sent)}}`,
      JSON.stringify(sent),
      `{"name":"x","categoryId":${JSON.stringify(sent)}}`,
    ];
    for (const body of bodies) {
      const answer = await ask(service, "POST", "/pets", { body });
      if (answer.status !== 413) assert.equal(answer.status, 400);
      assertAnyError(answer);
    }
  }));
});
