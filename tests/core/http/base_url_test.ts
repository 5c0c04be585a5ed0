import assert from "node:assert/strict";
import test from "node:test";
import { parseBaseUrl } from "../../../core/http/base_url.ts";

test("parseBaseUrl takes a URL, whose links are absolute, or a path, whose links are relative", () => {
  const bases = [
    ["https://a.example/pets/v1", "/pets/v1", "https://a.example/pets/v1/pets"],
    ["/v1", "/v1", "?limit=5"],
    ["/", "", "?limit=5"],
    ["http://a:8080", "", "http://a:8080/pets"],
    ["http://a:8080/", "", "http://a:8080/pets"],
    ["HTTPS://A.Example:443/v1", "/v1", "https://a.example/v1/pets"], // the normal form
  ] as const;
  for (const [text, path, link] of bases) {
    const base = parseBaseUrl(text);
    assert.equal(base.path, path);
    assert.equal(base.link("/pets", "?limit=5"), link);
  }
  assert.equal(parseBaseUrl("/").url, "/");
  assert.equal(
    parseBaseUrl("https://a.example/v1").url,
    "https://a.example/v1",
  );
});

test("parseBaseUrl throws a TypeError for anything but a base address", () => {
  const wrong = ["", "v1", "./v1", "ftp://a/v1", "javascript:alert(1)"]
    .concat("//evil.example/v1", "/v1/", "/v1//x", "https://a/v1/", "/v1?x")
    .concat("/v1#x", "https://a/v1?", "https://u:p@a/v1", "https://u@a/v1")
    .concat("https://:p@a/v1", "/v 1", "/é", "/v1/../v2", "/./v1", "\\v1")
    .concat("/v1\\x", "/<x>", "/v1\n", " /v1", "https://a/v1 ", "https://")
    .concat("https://a:99999/v1");
  for (const url of wrong) {
    assert.throws(() => parseBaseUrl(url), TypeError, JSON.stringify(url));
  }
});

test("parseBaseUrl says in which normal form the path must be written", () => {
  assert.throws(() => parseBaseUrl("/é"), /"\/%C3%A9"/);
});
