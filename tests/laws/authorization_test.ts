/**
 * Laws of the `Authorization` header. The oracle reads the grammar of RFC 9110 §11.4 one character
 * at a time: credentials = auth-scheme [ 1*SP … ], the scheme in any case, spaces no part of a value.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, runs } from "../support/property.ts";

/** What follows `Bearer` and its spaces; `undefined` where no bearer credentials were sent. */
function bearerCredentials(sent: string): string | undefined {
  const characters = [...sent];
  const isBlank = (at: number): boolean =>
    characters[at] === " " || characters[at] === "\t";
  let from = 0;
  let to = characters.length;
  while (from < to && isBlank(from)) from++;
  while (to > from && isBlank(to - 1)) to--;
  for (const letter of "bearer") {
    const character = from < to ? characters[from++] ?? "" : "";
    if (character !== letter && character !== letter.toUpperCase()) {
      return undefined;
    }
  }
  if (from === to || characters[from] !== " ") return undefined;
  while (from < to && characters[from] === " ") from++;
  return characters.slice(from, to).join("");
}

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) =>
    String.fromCharCode(code)
  ),
  minLength: 1,
  maxLength: 20,
});

const scheme = fc.oneof(
  fc.mixedCase(fc.constant("bearer")),
  fc.constantFrom("Basic", "Bearer,", "Bearerr", "Beare", "", '"Bearer"'),
);
const blanks = fc.string({
  unit: fc.constantFrom(" ", " ", " ", "\t"),
  maxLength: 3,
});

// Law: whoever sends a bearer token that is a key is let in, and nobody else; the challenge has an
// error code exactly where bearer credentials were sent (RFC 6750 §3.1).
test("a request is let in exactly where its bearer token is a key", async () => {
  const token = fc.tuple(visible, fc.constantFrom("same", "same", "other"));
  await fc.assert(
    fc.asyncProperty(
      token,
      fc.tuple(blanks, scheme, blanks, blanks),
      fc.constantFrom("", "", "", "x", " x", ",x", "\u00e9"),
      async ([key, which], [before, scheme, between, after], tail) => {
        const sent = before + scheme + between +
          (which === "same" ? key : `${key}!`) + tail + after;
        await judge(sent, key);
      },
    ),
    runs(1000),
  );
});

test("no other text lets anybody in", async () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(..."Bearer \t,="),
      fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
    ),
  });
  await fc.assert(
    fc.asyncProperty(text, visible, (sent, key) => judge(sent, key)),
  );
  const prefixed = text.map((text) => `Bearer ${text}`);
  await fc.assert(
    fc.asyncProperty(prefixed, visible, (sent, key) => judge(sent, key)),
  );
});

async function judge(sent: string, key: string): Promise<void> {
  const service = handleService({ keys: apiKeys([key]) });
  const answer = await ask(service, "GET", "/pets", {
    headers: { authorization: sent },
  });
  const credentials = bearerCredentials(sent);
  if (credentials === key) {
    assert.equal(answer.status, 200, sent);
    return;
  }
  assertError(answer, "unauthorized");
  assert.equal(
    answer.headers.get("www-authenticate"),
    credentials === undefined
      ? 'Bearer realm="petstore"'
      : 'Bearer realm="petstore", error="invalid_token"',
  );
}
