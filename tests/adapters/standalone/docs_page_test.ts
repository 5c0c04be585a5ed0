import assert from "node:assert/strict";
import test from "node:test";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { openService } from "../../../adapters/standalone/service.ts";

/** Asks a standalone service under this base URL, without a key; tells status and media type. */
async function look(
  baseUrl: string,
  paths: readonly string[],
): Promise<Record<string, string>> {
  const config = readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "secret",
    BASE_URL: baseUrl,
    REQUEST_LOG: "off",
  });
  const service = await openService(config);
  const seen: Record<string, string> = {};
  for (const path of paths) {
    const response = await service.handle(
      new Request(`http://localhost${path}`),
    );
    const [mediaType] = (response.headers.get("content-type") ?? "").split(";");
    seen[path] = `${response.status} ${mediaType}`;
  }
  await service.close();
  return seen;
}

test("the standalone server shows its documentation at / and /docs, without a key", async () => {
  assert.deepEqual(
    await look("/v1", ["/", "/docs", "/docs/page.css", "/v1/openapi.json"]),
    {
      "/": "200 text/html",
      "/docs": "200 text/html",
      "/docs/page.css": "200 text/css",
      "/v1/openapi.json": "200 application/json",
    },
  );
});

test("the page takes no path from the service, wherever that is", async () => {
  assert.deepEqual(
    await look("/", ["/", "/docs", "/pets", "/openapi.json", "/pets/docs"]),
    {
      "/": "200 text/html",
      "/docs": "200 text/html",
      "/pets": "401 application/json",
      "/openapi.json": "200 application/json",
      "/pets/docs": "401 application/json",
    },
  );
  assert.deepEqual(
    await look("/docs", ["/docs", "/docs/pets", "/docs/openapi.json"]),
    {
      "/docs": "200 text/html",
      "/docs/pets": "401 application/json",
      "/docs/openapi.json": "200 application/json",
    },
  );
  assert.deepEqual(await look("/docs/pets", ["/docs/pets/pets"]), {
    "/docs/pets/pets": "401 application/json",
  });
});

test("what is neither the page's nor the service's is 404", async () => {
  assert.deepEqual(await look("/v1", ["/docs/", "/docs/x", "/index.html"]), {
    "/docs/": "404 application/json",
    "/docs/x": "404 application/json",
    "/index.html": "404 application/json",
  });
});
