/** The documentation page in a real browser: its form for the key, Execute, and addresses. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { docs } from "../../../adapters/docs/mod.ts";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { listenOn } from "../../support/server.ts";
import { toNodeListener } from "../../../adapters/http/node/mod.ts";
import { createHandler } from "../../../adapters/handler.ts";
import { apiKeys } from "../../../core/keys.ts";
import { until } from "../../support/time.ts";
import { openPage } from "../../support/browser.ts";
import {
  CREATE,
  DESKTOP,
  DOCUMENT,
  enterKey,
  execute,
  fillInKey,
  INVALID,
  LIST,
  onPage,
  open,
  PAGE_TIMEOUT,
  PHONE,
  skip,
  stores,
} from "./on_page.ts";

const onDesktop = { test: onPage(DESKTOP) };

onPage({ ...DESKTOP, rememberKey: true })(
  "with `rememberKey` the form keeps an accepted key, until Forget or a 401",
  async ({ page, complaints, origin, keys }) => {
    const kept = [{}, { "API key of /v1/": "secret" }, ""];
    const nothing = [{}, {}, ""];
    await page.click(".btn.authorize");
    await page.getByText("when you close this tab or press Forget").waitFor();
    const command = page.getByText("deno@2.9.6 task keys issue NAME");
    assert.equal(await command.isVisible(), false);
    await page.getByText("If you run this service").click();
    await command.waitFor();
    await fillInKey(page, "", "API key is missing");
    await fillInKey(page, "wrong", INVALID);
    assert.doesNotMatch(complaints.join(), /TypeError/);
    const errors = await page.locator(".errors").innerText();
    assert.equal(errors, INVALID);
    const state = await page.getByRole("status").innerText();
    assert.equal(state, "Requests need an API key");
    assert.deepEqual(await stores(page), nothing);
    await fillInKey(page, "secret");
    assert.deepEqual(await stores(page), kept);

    for (const body of ["<h1>Bad", "null"]) {
      const failing = { status: 503, body };
      await page.route("**/v1/pets*", (route) => route.fulfill(failing));
      await page.reload();
      await page.click(".btn.authorize");
      await page.getByText("the answer is an error").waitFor();
      assert.deepEqual(await stores(page), kept, body);
      await page.unrouteAll();
    }
    await page.reload();
    await page.getByText("Key accepted").waitFor();
    await open(page, LIST);
    assert.equal((await execute(page, LIST)).status, "200");
    const otherTab = await page.context().newPage();
    await otherTab.goto(origin);
    await otherTab.getByText("Requests need an API key").waitFor();
    assert.deepEqual(await stores(otherTab), nothing);

    await page.click(".btn.authorize");
    await page.getByRole("button", { name: "Forget" }).click();
    assert.deepEqual(await stores(page), nothing);
    await fillInKey(page, "secret");
    assert.deepEqual(await stores(page), kept);

    keys.clear(); // the key is revoked
    await page.click(`${LIST} .btn-clear`);
    assert.equal((await execute(page, LIST)).status, "401");
    await page.getByText("Requests need an API key").waitFor();
    assert.deepEqual(await stores(page), nothing);

    await page.evaluate('sessionStorage["API key of /v1/"] = "secret"');
    await page.reload();
    await page.click(".btn.authorize");
    await page.getByText(INVALID).waitFor();
    assert.deepEqual(await stores(page), nothing);
  },
);

onDesktop.test("the form hides the key until it is told to show it, and gives the focus back", async ({ page }) => {
  const key = page.getByRole("textbox", { name: "API key" });
  const closings = [
    () => page.keyboard.press("Escape"),
    () => page.click(".close-modal"),
    () => page.click(".auth-btn-wrapper .btn-done"),
    () => fillInKey(page, "secret"),
  ];
  for (const opener of [".btn.authorize", `${CREATE} .authorization__btn`]) {
    for (const close of closings) {
      await page.click(opener);
      await key.and(page.locator(":focus")).waitFor();
      const title = page.locator("dialog h3");
      assert.equal(await title.innerText(), "API key", `${close}`);
      await close();
      await page.locator(`${opener}:focus`).waitFor();
      assert.equal(await page.locator("dialog").count(), 0, `${close}`);
    }
    await page.click(opener);
    await page.getByRole("button", { name: "Forget" }).click();
    assert.equal(await key.getAttribute("type"), "password", opener);
    assert.equal(
      await key.getAttribute("autocomplete"),
      "current-password",
      opener,
    );
    const account = page.locator('[autocomplete="username"]');
    assert.equal(await account.inputValue(), "API key of /v1/", opener);
    await key.fill("secret");
    await page.getByLabel("Show").check();
    assert.equal(await key.getAttribute("type"), "text", opener);
    assert.equal(await key.inputValue(), "secret", opener);
    await page.keyboard.press("Escape");
  }
});

onDesktop.test("a double click on Authorize opens the form, ready for the key", async ({ page }) => {
  await page.dblclick(".btn.authorize");
  await page.keyboard.type("secret");
  await page.keyboard.press("Enter");
  await page.getByText("Key accepted").waitFor();
  assert.equal(await page.locator("dialog").count(), 0);
});

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

onPage({ ...DESKTOP, rememberKey: true })(
  "a key is used even if the browser has no room to keep it",
  async ({ page }) => {
    await page.evaluate('sessionStorage.other = "x".repeat(5 * 2 ** 20 - 5)');
    await enterKey(page, "secret");
    await open(page, LIST);
    assert.equal((await execute(page, LIST)).status, "200");
  },
);

onDesktop.test("an operation's own address shows it below the bar", async ({ page, origin }) => {
  // Swagger UI shows what an operation has after 35 ms, or later than it scrolls there.
  await page.addInitScript(`
    const wait = setTimeout;
    setTimeout = (run, ms, ...args) => wait(run, ms === 35 ? 2000 : ms, ...args);
  `);
  await page.goto(`${origin}/docs#/service/getOpenApi`);
  await page.locator(`${DOCUMENT} .execute`).waitFor();
  const title = page.locator(`${DOCUMENT} .opblock-summary`);
  const bar = page.locator(".scheme-container");
  const positions = async () => [
    await bar.evaluate((element) => element.getBoundingClientRect().bottom),
    await title.evaluate((element) => element.getBoundingClientRect().top),
  ];
  let last: readonly number[] = [];
  // It may begin to scroll late, and scrolls for some time.
  await until("the title is below the bar, and still", async () => {
    const [bottom = NaN, top = NaN] = last;
    await page.waitForTimeout(500);
    last = await positions();
    return last[0] === bottom && last[1] === top && top >= bottom &&
      top < 100;
  });
});

onPage(PHONE)(
  "the page says why it cannot show the document",
  async ({ page, origin }) => {
    const address = `${origin}/v1/openapi.json`;
    await page.route(address, (route) => route.fulfill({ status: 503 }));
    await page.reload();
    const told = await page.locator("#reference.failed").innerText();
    assert.equal(told, `Cannot show ${address}: the answer is 503`);
  },
);
