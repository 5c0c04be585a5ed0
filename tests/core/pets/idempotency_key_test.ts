import assert from "node:assert/strict";
import { test } from "node:test";
import {
  idempotencyDigest,
  parseIdempotencyKey,
} from "../../../core/pets/idempotency_key.ts";
import { apiKeys } from "../../../core/keys.ts";
import { ask } from "../../contract/ask.ts";
import { handleService } from "../../support/handle_service.ts";
import { REX_JSON } from "../../support/pets.ts";
import { codeUnit, fc } from "../../support/property.ts";
import { readText } from "../../support/repository.ts";

test("parseIdempotencyKey reads the quoted and the bare form as one key", () => {
  const key = fc.oneof(
    fc.string({ unit: codeUnit(0x21, 0x7e), minLength: 1, maxLength: 255 }),
    fc.constantFrom("k".repeat(255), '"'.repeat(255), '"', "\\", "a,b;c=d"),
  );
  fc.assert(fc.property(key, (key) => {
    const quoted = `"${key.replaceAll(/["\\]/g, "\\$&")}"`;
    assert.equal(parseIdempotencyKey(quoted), key);
    if (!key.startsWith('"')) assert.equal(parseIdempotencyKey(key), key);
  }));
});

interface StringCase {
  readonly name: string;
  /** The lines of the field. */
  readonly raw: readonly string[];
  readonly must_fail?: boolean;
  readonly expected?: readonly [value: string, parameters: readonly unknown[]];
}

for (const file of ["string.json", "string-generated.json"]) {
  test(`parseIdempotencyKey reads the strings of ${file} as RFC 9651 says`, () => {
    const text = readText(`tests/data/structured_field_tests/${file}`);
    const cases: readonly StringCase[] = JSON.parse(text);
    for (const { name, raw, expected } of cases) {
      const header = raw.join(", ");
      if (!header.startsWith('"')) continue; // the bare form is not a string of RFC 9651
      const [value = ""] = expected ?? [];
      const isKey = /^[!-~]{1,255}$/.test(value);
      const result = isKey ? value : undefined;
      assert.equal(parseIdempotencyKey(header), result, name);
    }
  });
}

test("parseIdempotencyKey refuses DEL, which no client of fetch can send", () => {
  assert.equal(parseIdempotencyKey("a\x7f"), undefined);
});

test("idempotencyDigest is another for each key, and shows neither of its two", async () => {
  const [key, other] = [
    await idempotencyDigest("a", "k"),
    await idempotencyDigest("a", "l"),
  ];
  assert.notEqual(key, other);
  assert.match(key, /^[0-9a-f]{64}$/);
});

test("each API key has idempotency keys of its own", async () => {
  const service = handleService({ keys: apiKeys(["secret", "other"]) });
  const send = (authorization: string) =>
    ask(service, "POST", "/pets", {
      body: REX_JSON,
      headers: { authorization, "idempotency-key": "k" },
    });
  const first = await send("Bearer secret");
  const other = await send("Bearer other");
  assert.deepEqual([first.status, other.status], [201, 201]);
  assert.notEqual(other.text, first.text);
  assert.equal(other.headers.get("idempotent-replayed"), null);
  // The scheme's case and the spaces after it are not part of the API key.
  const again = await send("bearer   other");
  assert.equal(again.text, other.text);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
});

test("the idempotency keys of a caller are the same with each of its API keys", async () => {
  /** Which caller each key has; the last two try to be another. */
  const callers: Readonly<Record<string, string | undefined>> = {
    "old-token": "Ann",
    "new-token": "Ann",
    "other-token": "Bob",
    "Ann": undefined,
    "caller": "old-token",
  };
  const counted: string[] = [];
  const service = handleService({
    keys: {
      verify: (key) => {
        const caller = callers[key];
        return { id: "team", ...caller !== undefined && { caller } };
      },
    },
    rateLimit(caller) {
      counted.push(caller);
      return { allowed: true };
    },
  });
  const answers = [];
  for (const key of Object.keys(callers)) {
    const { text, headers } = await ask({ ...service, key }, "POST", "/pets", {
      body: REX_JSON,
      headers: { "idempotency-key": "k" },
    });
    answers.push([JSON.parse(text).id, headers.get("idempotent-replayed")]);
  }
  assert.deepEqual(answers, [
    [1, null],
    [1, "true"],
    [2, null],
    [3, null],
    [4, null],
  ]);
  assert.deepEqual(counted, ["Ann", "Ann", "Bob", "Ann", "old-token"]);
});
