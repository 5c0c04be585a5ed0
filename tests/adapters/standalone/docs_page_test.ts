import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../../contract/ask.ts";
import { openStandalone } from "../../support/server.ts";

// By base address: status and media type of paths, without a key.
const cases = [
  ["/v1", {
    "/": "200 text/html",
    "/docs": "200 text/html",
    "/docs/page.css": "200 text/css",
    "/v1/openapi.json": "200 application/json",
    "/docs/": "404 application/json",
    "/docs/x": "404 application/json",
    "/index.html": "404 application/json",
  }],
  ["/", {
    "/": "200 text/html",
    "/docs": "200 text/html",
    "/pets": "401 application/json",
    "/openapi.json": "200 application/json",
    "/pets/docs": "401 application/json",
  }],
  ["/docs", {
    "/docs": "200 text/html",
    "/docs/pets": "401 application/json",
    "/docs/openapi.json": "200 application/json",
  }],
  ["/docs/pets", { "/docs/pets/pets": "401 application/json" }],
] as const;
for (const [BASE_URL, seen] of cases) {
  test(`a server at ${BASE_URL} loses no path to the page, which needs no key`, async (t) => {
    const service = await openStandalone(t, { BASE_URL });
    for (const [path, expected] of Object.entries(seen)) {
      const stranger = { ...service, key: undefined };
      const { status, headers, text } = await ask(stranger, "GET", path);
      const type = headers.get("content-type")?.replace(/;.*/, "");
      assert.equal(`${status} ${type}`, expected, path);
      if (type !== "text/html") continue;
      assert.match(text, /data-remember-key="true"/, path);
    }
  });
}
