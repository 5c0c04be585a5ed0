/**
 * Law of the `Host` header: Host = uri-host [ ":" port ] (RFC 9110 §7.2), where uri-host is an IP literal,
 * an IPv4 address or a registered name (RFC 3986 §3.2.2). The generators are that grammar.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { fc, joined, runs } from "../support/property.ts";

const name = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."abcxyzABCXYZ0189-._~!$&'()*+,;="),
    fc.stringMatching(/^%[0-9A-Fa-f]{2}$/),
  ),
  minLength: 1,
  maxLength: 20,
});
const host = joined(
  fc.oneof(name, fc.domain(), fc.ipV4(), fc.ipV6().map((ip) => `[${ip}]`)),
  fc.oneof(
    fc.constantFrom("", ":"),
    fc.nat(99999).map((port) => `:${port}`),
  ),
);
const forbidden = fc.constantFrom(
  ...[...'/?#@\\ <>"^`{|}\t\u00a0\u00e9\u00ff[]', "%", "%a"],
);
const port = fc.stringMatching(
  /^(?:[0-9]{0,3}[a-zA-Z:+. -][0-9]{1,3}|-[0-9]+)$/,
);

test("a request is answered exactly if its Host is as RFC 9110 §7.2 has it", async () => {
  const wrong = fc.oneof(
    joined(name, forbidden, fc.constant("g"), name), // "g" is no hexadecimal digit
    joined(name, fc.constant(":"), port),
  );
  const sent = fc.oneof(
    fc.tuple(host, fc.constant(true)),
    fc.tuple(wrong, fc.constant(false)),
  );
  await fc.assert(
    fc.asyncProperty(sent, async ([host, isRight]) => {
      const headers = { host };
      const answer = await ask(handleService(), "GET", "/pets", { headers });
      if (!isRight) assertError(answer, "bad_request");
      else assert.deepEqual([answer.status, answer.text], [200, "[]"], host);
    }),
    runs(1000),
  );
});
