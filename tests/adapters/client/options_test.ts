/** What a client is made of. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  type ClientOptions,
  createClient,
} from "../../../adapters/client/mod.ts";
import { BASE, KEY } from "./in_process.ts";
import { json } from "./scripted.ts";

test("baseUrl may end in a slash or not, and have any path or none", async () => {
  for (
    const [baseUrl, expected] of [
      ["http://localhost/v1", "http://localhost/v1/pets"],
      ["http://localhost/v1/", "http://localhost/v1/pets"],
      ["https://example.com", "https://example.com/pets"],
      [
        "https://example.com:8443/a/b/v1",
        "https://example.com:8443/a/b/v1/pets",
      ],
      ["http://[::1]:8000/v1", "http://[::1]:8000/v1/pets"],
    ] as const
  ) {
    const asked: string[] = [];
    const client = createClient({
      baseUrl,
      key: KEY,
      fetch({ url }) {
        asked.push(url);
        return json("[]");
      },
    });
    await client.listPets();
    assert.deepEqual(asked, [expected]);
  }
});

test("a wrong baseUrl is a TypeError that does not show it", () => {
  for (
    const baseUrl of [
      "",
      "/v1",
      "ftp://example.com/v1",
      "http://example.com/v1?x=1",
      "http://example.com/v1#",
      `http://user:${KEY}@example.com/v1`,
      `http://:${KEY}@example.com/v1`,
      "http://user@example.com/v1",
      KEY,
      new URL("http://example.com/v1"),
      undefined,
    ]
  ) {
    assert.throws(
      () => createClient({ baseUrl: baseUrl as string, key: KEY }),
      (error) => {
        assert.ok(error instanceof TypeError, String(baseUrl));
        assert.match(error.message, /^Wrong option baseUrl: .* such as/);
        assert.ok(!error.message.includes(KEY));
        return true;
      },
    );
  }
});

test("a key that no header can carry is a TypeError that does not show it", () => {
  for (
    const key of [
      "",
      " ",
      `${KEY}\n`,
      `${KEY}é`,
      undefined,
      7,
    ]
  ) {
    assert.throws(
      () => createClient({ baseUrl: BASE, key: key as string }),
      (error) => {
        assert.ok(error instanceof TypeError, String(key));
        assert.match(error.message, /^Wrong option key: /);
        assert.ok(!error.message.includes(KEY));
        return true;
      },
    );
  }
});

test("a number out of bounds is a RangeError, a fetch that is none a TypeError", () => {
  const make = (options: Partial<ClientOptions>) => () =>
    createClient({ baseUrl: BASE, key: KEY, ...options });
  for (const timeout of [0, -1, 1.5, NaN, Infinity, 2 ** 31]) {
    assert.throws(make({ timeout }), RangeError, `timeout ${timeout}`);
  }
  for (const retries of [-1, 1.5, NaN, 11]) {
    assert.throws(make({ retries }), RangeError, `retries ${retries}`);
  }
  assert.throws(make({ fetch: "fetch" as never }), TypeError);
  make({ timeout: 1, retries: 0 })();
  make({ timeout: 2 ** 31 - 1, retries: 10 })();
});
