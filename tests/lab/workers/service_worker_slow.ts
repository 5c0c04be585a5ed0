/**
 * docs/examples/service_worker.ts in Chromium: the whole service works after the server is gone.
 */
import { buildSync } from "esbuild";
import assert from "node:assert/strict";
import test from "node:test";
import { docs } from "../../../adapters/docs/mod.ts";
import { handleService } from "../../support/handle_service.ts";
import { atEnd } from "../../support/at_end.ts";
import { placeExample } from "../../support/examples.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { skipping } from "../../support/runtime.ts";
import { noBrowser, openPage } from "../../support/browser.ts";

const options = { skip: skipping(noBrowser), timeout: 60_000 };
test("a Service Worker serves all without a server", options, async (t) => {
  const { outputFiles } = buildSync({
    entryPoints: [placeExample("service_worker.ts", newFolder(t))],
    bundle: true,
    write: false,
  });
  const service = handleService({ endpoints: await docs() });
  const server = Deno.serve({ port: 0, onListen() {} }, async (request) => {
    const page = await service.fetch(request);
    if (page.ok) return page;
    const isWorker = request.url.endsWith("/worker.js");
    const type = isWorker ? "text/javascript" : "text/html";
    const body = isWorker ? outputFiles[0]?.text : "";
    return new Response(body, { headers: { "content-type": type } });
  });
  atEnd(t, () => server.shutdown());
  const url = `http://127.0.0.1:${server.addr.port}`;
  const { page } = await openPage(t);
  await page.goto(url);
  await page.evaluate(`navigator.serviceWorker.register("/worker.js")
    .then(() => navigator.serviceWorker.ready).then(() => {})`);
  await server.shutdown();

  await page.goto(`${url}/docs`);
  await page.locator(".opblock").first().waitFor();
  const rex = '"name":"Rex","categoryId":9007199254740993';
  const answers = await page.evaluate(`(async () => {
    const headers = { authorization: "Bearer secret" };
    const body = new Blob(['{${rex}}'], { type: "application/json" });
    const added = await fetch("/v1/pets", { headers, method: "POST", body });
    const listed = await fetch("/v1/pets", { headers });
    const unknown = { headers: { "if-none-match": '"x"' } };
    const document = await fetch("/v1/openapi.json", unknown);
    return [await added.text(), await listed.text(), document.status];
  })()`);
  const added = `{"id":1,${rex},"status":"available"}`;
  assert.deepEqual(answers, [added, `[${added}]`, 200]);
});
