import assert from "node:assert/strict";
import { test } from "node:test";
import { requestUrl } from "../../../../adapters/http/node/listener.ts";
import { isHost } from "../../../../core/http/target.ts";
import { fc, runs } from "../../../support/property.ts";

/** Tells whether a URL can be built from a `Host` that the service does not refuse. */
function isUrlHost(host: string): boolean {
  return isHost(host) && URL.canParse(`http://${host}`);
}

const hosts = "example.com EXAMPLE.com:8080 a a-1.b_c xn--caf-dma.com"
  .split(" ").concat("127.0.0.1:8000", "[::1]:8000", "a:80", "a:", "%61")
  // Those that the service refuses.
  .concat("", "a/b", "x/v1/pets?", "x#", "u@x", "u:p@x", "a:99999")
  .concat("a:b", "a, b", "a\\b", "%2f", "1.2.3.999", "1.2.3.4.5", "[::")
  .concat("[::1]x", "é");

test("requestUrl puts scheme, host and target together, with the path as it was sent", () => {
  const cases = [
    ["example.com", "/v1/pets?limit=5", "http://example.com/v1/pets?limit=5"],
    ["EXAMPLE.com:80", "/", "http://EXAMPLE.com:80/"],
    ["a", "//b/c", "http://a//b/c"],
    ["a", "/b/../c/%2e%2E/d", "http://a/b/../c/%2e%2E/d"],
    ["a", "/b\\c", "http://a/b\\c"],
    ["a", "/%zz?'\"", "http://a/%zz?'\""],
    ["a", "/b#c", "http://a/b#c"],
    ["a", "*", "http://a/*"],
    ["localhost", "/b", "http://localhost/b"],
    ["a", "http://b:81/c?d", "http://b:81/c?d"],
    ["a", "https://u:p@b/c", "https://b/c"],
    ["a", "http://b/../c", "http://b/../c"],
    ["a", "http://b?c", "http://b/?c"],
  ] as const;
  for (const [host, target, url] of cases) {
    assert.equal(requestUrl("http", host, target), url, target);
  }
  assert.equal(requestUrl("https", "a:443", "/b"), "https://a:443/b");
});

test("requestUrl refuses a target of no known form", () => {
  const targets = ["", "b", "foo://b/c", "http://", "http://[b/c", "?b"];
  for (const target of [...targets, "http:///b/c"]) {
    assert.equal(requestUrl("http", "a", target), undefined, target);
  }
});

// Law: whatever the Host, the URL parses and ends in the target.
test("requestUrl lets no Host alter the path", () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.constantFrom(...hosts),
    fc.string(),
    fc.string({ unit: fc.constantFrom(..."a0.-:[]x9_~") }),
  ).filter(isUrlHost);
  const target = fc.oneof(
    fc.webPath(),
    fc.string({ unit: "binary-ascii" }),
    fc.string({ unit: fc.constantFrom(..."/.%2eE?#a\\") }),
  ).map((text) => `/${text}`);
  fc.assert(
    fc.property(host, target, (host, target) => {
      const url = requestUrl("http", host, target) ?? assert.fail(host);
      const parsed = new URL(url);
      assert.equal(parsed.host, new URL(`http://${host}`).host);
      const alone = new URL(`http://localhost${target}`);
      assert(url.endsWith(target));
      assert.equal(parsed.pathname, alone.pathname);
      assert.equal(parsed.search, alone.search);
    }),
    runs(500),
  );
});
