/** The documentation page in a real browser: its form for the key, and addresses. */
import assert from "node:assert/strict";
import { until } from "../../support/time.ts";
import {
  CREATE,
  DESKTOP,
  DOCUMENT,
  enterKey,
  execute,
  fillInKey,
  INVALID,
  LIST,
  onDesktop,
  onPage,
  open,
  PHONE,
  stores,
} from "./on_page.ts";

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
