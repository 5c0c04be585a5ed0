import assert from "node:assert/strict";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { openService } from "../../../adapters/standalone/service.ts";
import { commandLine, RUNTIME, testUnless } from "../../support/runtime.ts";
import { MAIN, taskFlags, untilListening } from "../../support/standalone.ts";
import { launch } from "../../support/process.ts";
import { newFolder } from "../../support/temporary_directory.ts";

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
  test(`a server whose base address is ${BASE_URL} shows the page without a key, and loses no path to it`, async () => {
    const service = await openService(readConfig({
      DATABASE_URL: "memory:",
      PETSTORE_API_KEYS: "secret",
      BASE_URL,
      REQUEST_LOG: "off",
    }));
    for (const [path, expected] of Object.entries(seen)) {
      const request = new Request(`http://localhost${path}`);
      const response = await service.handle(request);
      const { status, headers } = response;
      const type = headers.get("content-type")?.replace(/;.*/, "");
      assert.equal(`${status} ${type}`, expected, path);
      if (type !== "text/html") continue;
      assert.match(await response.text(), /data-remember-key="true"/);
    }
    await service.close();
  });
}

testUnless(RUNTIME !== "deno" && "only Deno has permissions")(
  "a server that cannot read the page says so, and in its place, and serves on",
  async (t) => {
    const cwd = newFolder(t);
    const page = new URL("../../../adapters/docs/page.html", import.meta.url);
    const flags = [...taskFlags("start"), `--deny-read=${fileURLToPath(page)}`];
    const env = { DATABASE_URL: "memory:", PETSTORE_API_KEYS: "secret" };
    const command = [...commandLine(MAIN, flags), "start", "--port", "0"];
    const server = await untilListening(launch(command, { cwd, env }));
    const problem = "Cannot read ./page.html, which the docs page needs";
    // Last: the server works without it.
    assert.match(server.stderr(), RegExp(`listens at .*\\n${problem}.*\\n$`));
    const response = await fetch(server.origin);
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("content-type"), "text/plain");
    assert.ok((await response.text()).startsWith(problem));
    const pets = await fetch(`${server.origin}/v1/pets`);
    assert.equal(pets.status, 401);
    await pets.body?.cancel();
    assert.equal(await server.end(), 0);
  },
);
