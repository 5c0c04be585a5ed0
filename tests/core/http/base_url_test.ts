import assert from "node:assert/strict";
import test from "node:test";
import { parseBaseUrl } from "../../../core/http/base_url.ts";

test("parseBaseUrl makes absolute links of a URL, and relative ones of a path", () => {
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
    assert.equal(base.path, path, text);
    assert.equal(base.link("/pets", "?limit=5"), link, text);
  }
});

test("parseBaseUrl refuses anything but a base address, whose path is in normal form", () => {
  const others =
    `v1 ./v1 ftp://a/v1 javascript:alert(1) /v1?x /v1#x https://a/v1? https:// https:///v1 \\v1
    https://u:p@a/v1 https://u@a/v1 https://:p@a/v1 https://a:99999/v1`;
  for (const url of [...others.split(/\s+/), "", " /v1"]) {
    assertWrong(
      url,
      'it must be a path such as "/v1", or an http or https URL without user, query and fragment',
    );
  }
  const forms = [
    ["/v1/", "/v1"],
    ["/v1//x/", "/v1/x"],
    ["https://a/v1/", "/v1"],
    ["https://a//", "/"],
    ["//evil.example/v1", "/v1"],
    ["/v1/../v2", "/v2"],
    ["/./v1", "/v1"],
    ["/v 1", "/v%201"],
    ["/é", "/%C3%A9"],
    ["/<x>", "/%3Cx%3E"],
    ["/%761", "/v1"],
    ["/%2d%2E%5f%7e%2Fx", "/-._~%2Fx"],
    ["/v1\\x", "/v1/x"],
    ["/v1\n", "/v1"],
    ["https://a/v1 ", "/v1"],
  ] as const;
  for (const [url = "", normal] of forms) {
    assertWrong(
      url,
      `its path must be in normal form: "${normal}"`,
    );
  }
});

function assertWrong(url: string, reason: string): void {
  assert.throws(() => parseBaseUrl(url), {
    name: "TypeError",
    message: `Wrong option baseUrl: ${reason}`,
  });
}
