/** Law of the `Authorization` header: credentials = auth-scheme [ 1*SP … ] (RFC 9110 §11.4). */
import assert from "node:assert/strict";
import test from "node:test";
import { apiKeys } from "../../core/keys.ts";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { codeUnit, fc, joined, runs } from "../support/property.ts";

/** Reads the token, if bearer credentials were sent. Spaces around the field are not part of it. */
function bearerToken(sent: string): string | undefined {
  const value = sent.replaceAll(/^[ \t]+|[ \t]+$/g, "");
  return /^bearer +([^]*)$/i.exec(value)?.[1];
}

const visible = fc.string({
  unit: codeUnit(0x21, 0x7e),
  minLength: 1,
  maxLength: 20,
});
const scheme = fc.oneof(
  fc.mixedCase(fc.constant("bearer")),
  fc.constantFrom("Basic", "Bearer,", "Bearerr", "Beare", "", '"Bearer"'),
);
const blanks = fc.string({ unit: fc.constantFrom(..."   \t"), maxLength: 3 });
const field = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."Bearer \t,="),
    codeUnit(0x20, 0x7e),
    codeUnit(0x80, 0xff),
  ),
});

// The challenge has an error code exactly if bearer credentials were sent (RFC 6750 §3.1).
test("a request is let in exactly if its bearer token is a key", async () => {
  const credentials = visible.chain((key) =>
    fc.tuple(
      fc.constant(key),
      fc.oneof(
        {
          weight: 5,
          arbitrary: joined(
            ...[blanks, scheme, blanks],
            fc.constantFrom(key, key, `${key}!`),
            blanks,
            fc.constantFrom("", "", "", "x", " x", ",x", "\u00e9"),
          ),
        },
        field,
        field.map((text) => `Bearer ${text}`),
      ),
    )
  );
  await fc.assert(
    fc.asyncProperty(credentials, async ([key, sent]) => {
      const keys = apiKeys([key]);
      const asked: string[] = [];
      const verify = (token: string) => {
        asked.push(token);
        return keys.verify(token);
      };
      const service = handleService({ keys: { verify } });
      const headers = { authorization: sent };
      const answer = await ask(service, "GET", "/pets", { headers });
      const token = bearerToken(sent);
      // What can be no key is not looked up.
      const canBeKey = /^[!-~]+$/.test(token ?? "");
      assert.deepEqual(asked, canBeKey ? [token] : []);
      if (token === key) return assert.equal(answer.status, 200, sent);
      assertError(answer, "unauthorized");
      const error = token === undefined ? "" : ', error="invalid_token"';
      const challenge = answer.headers.get("www-authenticate");
      assert.equal(challenge, `Bearer realm="petstore"${error}`);
    }),
    runs(1500),
  );
});
