import assert from "node:assert/strict";
import test from "node:test";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { openService } from "../../../adapters/standalone/service.ts";

// By base address: status and media type of paths, without a key.
for (
  const [BASE_URL, seen] of [
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
  ] as const
) {
  test(`a server whose base address is ${BASE_URL} shows the page without a key, and loses no path to it`, async () => {
    const service = await openService(readConfig({
      DATABASE_URL: "memory:",
      PETSTORE_API_KEYS: "secret",
      BASE_URL,
      REQUEST_LOG: "off",
    }));
    for (const [path, expected] of Object.entries(seen)) {
      const request = new Request(`http://localhost${path}`);
      const { status, headers } = await service.handle(request);
      const type = headers.get("content-type")?.replace(/;.*/, "");
      assert.equal(`${status} ${type}`, expected, path);
    }
    await service.close();
  });
}
