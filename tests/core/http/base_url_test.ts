import assert from "node:assert/strict";
import test from "node:test";
import { parseBaseUrl } from "../../../core/http/base_url.ts";

test("parseBaseUrl takes an absolute URL, whose links are absolute", () => {
  const base = parseBaseUrl("https://api.example.com/pets/v1");
  assert.equal(base.path, "/pets/v1");
  assert.equal(base.url, "https://api.example.com/pets/v1");
  assert.equal(
    base.link("/pets?limit=5", "?limit=5"),
    "https://api.example.com/pets/v1/pets?limit=5",
  );
});

test("parseBaseUrl takes a path, whose links are relative", () => {
  const base = parseBaseUrl("/v1");
  assert.equal(base.url, "/v1");
  assert.equal(base.link("/pets?limit=5", "?limit=5"), "?limit=5");
});

test("parseBaseUrl takes the root", () => {
  assert.equal(parseBaseUrl("/").path, "");
  assert.equal(parseBaseUrl("/").url, "/");
  for (const url of ["http://a:8080", "http://a:8080/"]) {
    const base = parseBaseUrl(url);
    assert.equal(base.path, "");
    assert.equal(base.link("/pets", "pets"), "http://a:8080/pets");
  }
});

test("parseBaseUrl writes links with the normal form of the origin", () => {
  assert.equal(
    parseBaseUrl("HTTPS://API.Example.com:443/v1").link("/pets", "pets"),
    "https://api.example.com/v1/pets",
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
