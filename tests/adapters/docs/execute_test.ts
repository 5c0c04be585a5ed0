/** The button Execute of the documentation page, in a real browser. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { docs } from "../../../adapters/docs/mod.ts";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { listenOn } from "../../support/server.ts";
import { toNodeListener } from "../../../adapters/http/node/mod.ts";
import { createHandler } from "../../../adapters/handler.ts";
import { apiKeys } from "../../../core/keys.ts";
import { openPage } from "../../support/browser.ts";
import {
  DOCUMENT,
  enterKey,
  execute,
  LIST,
  onDesktop,
  open,
  PAGE_TIMEOUT,
  skip,
} from "./on_page.ts";

onDesktop.test("Execute keeps the focus, and sends nothing while a request is in progress", async ({ page }) => {
  await enterKey(page, "secret");
  await open(page, LIST);
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  await page.route("**/pets?*", async (route) => {
    sent++;
    await promise;
    await route.continue();
  });
  const focused = () => page.evaluate("document.activeElement.textContent");
  await page.focus(`${LIST} .execute`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter"); // while the first is in progress
  assert.equal(await focused(), "Execute");
  resolve();
  await page.locator(`${LIST} .answer`).waitFor();
  assert.deepEqual([await focused(), sent], ["Execute", 1]);
});

onDesktop.test("Execute sends a request from the moment it shows", async ({ page }) => {
  await enterKey(page, "secret");
  await page.evaluate(`new Promise((resolve) => {
    const press = () => {
      const button = document.querySelector("${LIST} .execute");
      button ? resolve(button.click()) : requestAnimationFrame(press);
    };
    document.querySelector("${LIST} .opblock-summary-control").click();
    press();
  })`);
  await page.locator(`${LIST} .answer`).waitFor();
});

onDesktop.test("Execute shows an answer that is empty, not text, or cut short", async ({ page }) => {
  const title = async (operation: string): Promise<string> => {
    await page.click(`${operation} .execute`);
    const answer = page.locator(`${operation} .answer`);
    const text = await answer.locator("h4").first().innerText();
    await page.click(`${operation} .btn-clear`);
    return text.replace(/ in \d+ ms$/, "");
  };
  await open(page, DOCUMENT);
  const response = page.waitForResponse("**/openapi.json");
  assert.equal(await title(DOCUMENT), "200");
  const { etag = "" } = (await response).headers();
  await page.getByRole("textbox", { name: "If-None-Match" }).fill(etag);
  assert.equal(await title(DOCUMENT), "304");

  await enterKey(page, "secret");
  await open(page, LIST);
  const contentType = "application/octet-stream"; // as without any type
  const failing = { status: 502, contentType, body: "Bad Gateway" };
  await page.route("**/v1/pets*", (route) => route.fulfill(failing));
  assert.equal((await execute(page, LIST)).body, "Bad Gateway");
  await page.click(`${LIST} .btn-clear`);
  await page.unrouteAll();
  assert.equal(await title(LIST), "200");
  await page.evaluate(
    "Response.prototype.text = async () => { throw new TypeError(); }",
  );
  assert.equal(await title(LIST), "200, cut short");
});

test("Execute asks the server, even if a cache may answer", {
  skip,
  timeout: PAGE_TIMEOUT,
}, async (t) => {
  const handle = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    endpoints: await docs(),
  });
  const serve = toNodeListener(handle);
  let asked = 0;
  const gateway = createServer((request, response) => {
    if (!request.url?.startsWith("/v1/pets")) return serve(request, response);
    asked++;
    const type = "application/json";
    const fields = { "content-type": type, "cache-control": "max-age=60" };
    response.writeHead(200, fields).end("[]");
  });
  const port = await listenOn(t, gateway);
  const { page } = await openPage(t);
  await page.goto(`http://127.0.0.1:${port}/docs#/animals/listPets`);
  await execute(page, LIST);
  await page.click(`${LIST} .btn-clear`);
  await execute(page, LIST);
  assert.equal(asked, 2);
});

onDesktop.test("Execute gives up after a minute without an answer", async ({ page, waits }) => {
  await enterKey(page, "secret");
  await open(page, LIST);
  const never = Promise.withResolvers<void>();
  waits.set("secret", never.promise);
  // A hundred times faster.
  await page.evaluate(`globalThis.timeout = AbortSignal.timeout;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 100)`);
  await page.click(`${LIST} .execute`);
  const title = page.locator(`${LIST} .answer h4`).first();
  assert.equal(await title.innerText(), "signal timed out");
  await page.evaluate("AbortSignal.timeout = timeout");
  waits.clear();
  never.resolve();
  await page.click(`${LIST} .btn-clear`);
  assert.equal((await execute(page, LIST)).status, "200");
});

onDesktop.test("answers to earlier keys change nothing once another key is entered", async ({ page, keys, waits }) => {
  keys.add("other");
  await enterKey(page, "secret");
  await open(page, LIST);
  const wrong = Promise.withResolvers<void>();
  const secret = Promise.withResolvers<void>();
  waits.set("wrong", wrong.promise).set("secret", secret.promise);
  await page.click(`${LIST} .execute`); // with the key "secret"
  await page.click(".btn.authorize");
  await page.getByRole("button", { name: "Forget" }).click();
  await page.fill("#auth-bearer-value", "wrong");
  await page.click(".auth-btn-wrapper .authorize");
  await page.fill("#auth-bearer-value", "other");
  const asking = page.waitForRequest("**/v1/pets?limit=1");
  await page.click(".auth-btn-wrapper .authorize");
  await page.getByText("Key accepted").waitFor();

  const answered = page.waitForResponse("**/v1/pets?limit=1");
  wrong.resolve();
  await (await answered).finished();
  keys.delete("secret");
  secret.resolve();
  await page.locator(`${LIST} .answer [role="alert"]`).waitFor();
  assert.equal(await page.getByRole("status").innerText(), "Key accepted");
  await page.click(".btn.authorize");
  await page.getByRole("button", { name: "Forget" }).click();
  assert.equal(await page.locator("dialog .errors").count(), 0);
  // With its cache, Chromium would let a request wait 20 s for the one before.
  const sent = await (await asking).allHeaders();
  assert.equal(sent["cache-control"], "no-cache");
});
