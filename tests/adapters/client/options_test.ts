/** The options of a client. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  type ClientOptions,
  createClient,
} from "../../../adapters/client/mod.ts";
import { BASE, json, KEY } from "./scripted.ts";

test("baseUrl may end in a slash or not, and have any path or none", async () => {
  const addresses = {
    "http://localhost/v1": "http://localhost/v1/pets",
    "http://localhost/v1/": "http://localhost/v1/pets",
    "https://example.com": "https://example.com/pets",
    "https://example.com:8443/a/b/v1": "https://example.com:8443/a/b/v1/pets",
    "http://[::1]:8000/v1": "http://[::1]:8000/v1/pets",
  };
  for (const [baseUrl, expected] of Object.entries(addresses)) {
    const asked: string[] = [];
    const fetch = ({ url }: Request) => (asked.push(url), json("[]"));
    await createClient({ baseUrl, key: KEY, fetch }).listPets();
    assert.deepEqual(asked, [expected], baseUrl);
  }
});

const urls = ["", "/v1", "ftp://example.com/v1", KEY, undefined]
  .concat("http://example.com/v1?x=1", "http://example.com/v1#")
  .concat(`http://user:${KEY}@example.com/v1`, `http://:${KEY}@example.com/v1`)
  .concat("http://user@example.com/v1");

const cases = [
  [
    "baseUrl",
    [...urls, new URL("http://example.com/v1")],
    /: it must be a string, an .* such as/,
  ],
  ["key", ["", " ", `${KEY}\n`, `${KEY}é`, undefined, 7], /: /],
  ["fetch", [KEY], /: it must be a function, not /],
] as const;
for (const [name, values, message] of cases) {
  test(`a wrong ${name} is a TypeError that does not show it`, () => {
    for (const value of values) {
      const options = { baseUrl: BASE, key: KEY, [name]: value };
      assert.throws(() => createClient(options as ClientOptions), (error) => {
        assert.ok(error instanceof TypeError, String(value));
        assert.match(error.message, message);
        assert.ok(error.message.startsWith(`Wrong option ${name}: `));
        assert.ok(!error.message.includes(KEY));
        return true;
      });
    }
  });
}
