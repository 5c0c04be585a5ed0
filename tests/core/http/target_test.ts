import assert from "node:assert/strict";
import test from "node:test";
import { Refusal } from "../../../core/errors.ts";
import { parseTarget } from "../../../core/http/target.ts";

/** A request like those of servers, with any text as its URL. */
function request(url: string): Request {
  return { url, headers: new Headers() } as Request;
}

test("parseTarget reads path and query as they were sent", () => {
  const targets: [url: string, path: string, query: string][] = [
    ["http://h/v1/pets", "/v1/pets", ""],
    ["http://h/v1/pets?", "/v1/pets", ""],
    ["http://h/v1/pets?a=1&b=%20", "/v1/pets", "a=1&b=%20"],
    ["http://h/a?b?c", "/a", "b?c"],
    ["http://h//a/%2F", "//a/%2F", ""],
    ["http://h/", "/", ""],
    ["https://h:8443/a/b?c=/d", "/a/b", "c=/d"],
    ["http://[::1]:80/a", "/a", ""],
    ["/a?b", "/a", "b"], // HTTP/1.0 without a Host
    ["http://h/a#b?c/d", "/a", ""], // a fragment is no part of it
    ["http://h/a?b#c?d", "/a", "b"],
  ];
  for (const [url, path, query] of targets) {
    assert.deepEqual(parseTarget(request(url)), { path, query }, url);
  }
});

test("parseTarget refuses a target without a path, and one that is no URL", () => {
  const broken = {
    headers: new Headers(),
    get url(): string {
      throw new TypeError("Invalid URL");
    },
  };
  const others = ["", "*", "a", "http://h", "http://h?a=/b", "http://h#/b"];
  for (const sent of [broken as Request, ...others.map(request)]) {
    const refusal = parseTarget(sent);
    assert.ok(refusal instanceof Refusal);
    assert.equal(
      refusal.message,
      "Cannot read the request: its target must be a path or an http address",
    );
  }
});
