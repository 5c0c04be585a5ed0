/**
 * Laws of the `Host` header: Host = uri-host [ ":" port ] (RFC 9110 §7.2), where uri-host is an IP
 * literal, an IPv4 address or a registered name (RFC 3986 §3.2.2). The generators are that grammar.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, runs } from "../support/property.ts";

const UNRESERVED = "abcxyzABCXYZ0189-._~";
const SUB_DELIMS = "!$&'()*+,;=";

const registeredName = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...UNRESERVED),
    fc.constantFrom(...SUB_DELIMS),
    fc.stringMatching(/^%[0-9A-Fa-f]{2}$/),
  ),
  minLength: 1,
  maxLength: 20,
});
const host = fc.tuple(
  fc.oneof(
    registeredName,
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
  ),
  fc.oneof(
    fc.constant(""),
    fc.constant(":"),
    fc.nat(99999).map((port) => `:${port}`),
  ),
).map(([host, port]) => host + port);

// Law: a Host of the grammar is taken, and changes nothing about the answer.
test("every Host of the grammar is taken", async () => {
  await fc.assert(
    fc.asyncProperty(host, async (host) => {
      const headers = { host };
      const answer = await ask(handleService(), "GET", "/pets", { headers });
      assert.equal(answer.status, 200, host);
      assert.equal(answer.text, "[]");
    }),
    runs(500),
  );
});

// Law: one character that the grammar has not, anywhere within, and it is refused.
test("a Host with a character that the grammar has not is refused", async () => {
  const forbidden = fc.constantFrom(
    ...'/?#@\\ <>"^`{|}\t\u00a0\u00e9\u00ff',
    "%",
    "%g0",
    "[",
    "]",
  );
  await fc.assert(
    fc.asyncProperty(
      registeredName,
      forbidden,
      registeredName,
      async (before, character, after) => {
        // A percent sign before two hexadecimal digits is of the grammar.
        const host = `${before.replace(/%$/, "x")}${character}g${after}`;
        const headers = { host };
        const answer = await ask(handleService(), "GET", "/pets", { headers });
        assertError(answer, "bad_request");
      },
    ),
    runs(500),
  );
});

// Law: more after the port than digits, and it is refused.
test("a Host with a port that is no number is refused", async () => {
  const port = fc.oneof(
    fc.stringMatching(/^[0-9]{0,3}[a-zA-Z:+. -][0-9]{1,3}$/),
    fc.stringMatching(/^-[0-9]+$/),
  );
  await fc.assert(
    fc.asyncProperty(registeredName, port, async (name, port) => {
      const headers = { host: `${name}:${port}` };
      const answer = await ask(handleService(), "GET", "/pets", { headers });
      assertError(answer, "bad_request");
    }),
  );
});
