/**
 * The documentation page in a real browser: what a client developer sees and does there.
 *
 * `PAGE_SCREENSHOT=docs/page.png` also writes the picture that the README shows.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import process from "node:process";
import test from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { docs, type DocsOptions } from "../../../adapters/docs/mod.ts";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { listen, listenOn } from "../../support/server.ts";
import { toNodeListener } from "../../../adapters/http/node/mod.ts";
import { createHandler } from "../../../adapters/handler.ts";
import { apiKeys } from "../../../core/keys.ts";
import { skipping } from "../../support/runtime.ts";
import { newPet, REX } from "../../support/pets.ts";
import { until } from "../../support/time.ts";
import { noBrowser, type Opened, openPage } from "../../support/browser.ts";

const skip = skipping(noBrowser);

const DESKTOP: BrowserContextOptions = {
  viewport: { width: 1280, height: 900 },
  colorScheme: "light",
};
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  colorScheme: "light",
};

/** Beyond 2^53: a page that reads it with JSON.parse shows 9007199254740992. */
const CATEGORY = "9007199254740993";
const LIST = "#operations-animals-listPets";
const CREATE = "#operations-animals-createPet";
const GET = "#operations-animals-getPet";
const DOCUMENT = "#operations-service-getOpenApi";

const INVALID = "API key is invalid: it is unknown, expired or revoked";

const BACKGROUND = "getComputedStyle(document.body).backgroundColor";
const DARK_BACKGROUND = "rgb(28, 32, 34)";

/** A server with the page and a service with one pet, and a page that shows it. */
interface Shown extends Opened {
  readonly origin: string;
  /** The keys that the service accepts. */
  readonly keys: Set<string>;
  /** What the check of a key waits for. */
  readonly waits: Map<string, Promise<void>>;
}

/**
 * Makes a function that registers tests, each with a page that shows its own server, if there is a
 * browser.
 */
function onPage(
  options: BrowserContextOptions & DocsOptions,
): (title: string, check: (shown: Shown) => Promise<void>) => void {
  return (title, check) =>
    void test(title, { skip, timeout: 180_000 }, async (t) => {
      const keys = new Set(["secret"]);
      const waits = new Map<string, Promise<void>>();
      const storage = memoryStorage();
      await storage.create(newPet({ ...REX, categoryId: BigInt(CATEGORY) }));
      const { rememberKey = false } = options;
      const handle = createHandler({
        storage,
        keys: {
          verify: async (key) => {
            await waits.get(key);
            return keys.has(key);
          },
        },
        endpoints: await docs({ alias: "/", rememberKey }),
      });
      const { url: origin } = await listen(t, handle);
      const opened = await openPage(t, options);
      await opened.page.goto(`${origin}/`);
      await opened.page.locator(".opblock").first().waitFor();
      await check({ ...opened, origin, keys, waits });
      assert.ok(opened.requests.includes(`${origin}/`));
      assert.deepEqual(
        opened.requests.filter((url) =>
          !url.startsWith(`${origin}/`) && !url.startsWith("data:") &&
          !url.startsWith("blob:") && url !== "about:blank"
        ),
        [],
        "requests that leave this server",
      );
    });
}

const it = onPage(DESKTOP);

/** Everything that a page can keep. */
async function stores(page: Page): Promise<unknown> {
  return await page.evaluate(
    "[{ ...localStorage }, { ...sessionStorage }, document.cookie]",
  );
}

/** Fills in the form for the key, and waits for what it says. */
async function fillInKey(
  page: Page,
  key: string,
  said = "Key accepted",
): Promise<void> {
  await page.fill("#auth-bearer-value", key);
  await page.click(".auth-btn-wrapper .authorize");
  await page.getByText(said).waitFor();
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.click(".btn.authorize");
  await fillInKey(page, key);
}

async function open(page: Page, operation: string): Promise<void> {
  await page.click(
    `${operation} .opblock-summary-control .opblock-summary-method`,
  );
}

/** Sends the request; resolves to the status and the body that the page shows. */
async function execute(
  page: Page,
  operation: string,
): Promise<{ readonly status: string; readonly body: string }> {
  await page.click(`${operation} .execute`);
  const answer = page.locator(`${operation} .answer`);
  const body = await answer.locator(".highlight-code .language-json")
    .innerText();
  const status = await answer.locator("h4").first().innerText();
  return { status: status.trim().slice(0, 3), body };
}

/**
 * What the page has to meet: the success criteria of WCAG 2.2, A and AA, and what axe calls best
 * practices.
 */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
  .concat("best-practice");

/** The rules of axe that depend on colours, and those that depend on the size of the screen. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const SIZE_RULES = ["target-size", "scrollable-region-focusable"];

/**
 * Finds violations of some rules or criteria on the page as it is now: rule, selector and problem
 * of each.
 */
async function violations(
  page: Page,
  type: "rule" | "tag",
  values: readonly string[],
): Promise<readonly string[]> {
  // Elements that still fade in have other colours.
  await page.evaluate(
    "Promise.allSettled(document.getAnimations().map((each) => each.finished))",
  );
  const options = JSON.stringify({ runOnly: { type, values } });
  const found: AxeResults = await page.evaluate(`axe.run(${options})`);
  assert.ok(found.passes.length > 0, "axe has looked at the page");
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} ${node.target}: ${node.failureSummary}`)
  );
}

/**
 * Asserts that the page as it is now meets all criteria; in the dark and on a phone, those that may
 * differ there.
 */
async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const found = [...await violations(page, "tag", TAGS)];
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...await violations(page, "rule", COLOUR_RULES));
  await page.setViewportSize({ width: 390, height: 844 });
  found.push(...await violations(page, "rule", SIZE_RULES));
  assert.deepEqual(found, []);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

it("the page lists and adds pets to the last digit, and keeps the key nowhere", async ({ page, requests, complaints, origin }) => {
  await enterKey(page, "secret");
  await open(page, LIST);
  const after = page.locator(`${LIST} tr[data-param-name="after"] input`);
  assert.equal(await after.inputValue(), "");
  const { status, body } = await execute(page, LIST);
  assert.equal(status, "200");
  await page.getByText(/^200 in \d+ ms$/).waitFor();
  const answer = page.locator(`${LIST} .answer`);
  assert.equal(await answer.locator(".copy-to-clipboard").count(), 2);
  const saving = page.waitForEvent("download");
  await answer.locator(".download-contents").click();
  assert.equal((await saving).suggestedFilename(), "response.json");
  assert.equal(
    body.replace(/\s/g, ""),
    `[{"id":1,"name":"Rex","categoryId":${CATEGORY},"status":"available"}]`,
  );
  assert.deepEqual(complaints, []);
  assert.deepEqual(await stores(page), [{}, {}, ""]);
  assert.ok(requests.every((url) => !url.includes("secret")));
  const { PAGE_SCREENSHOT } = process.env;
  if (PAGE_SCREENSHOT !== undefined) {
    // From the operation's own line to the end of the response's body.
    await page.setViewportSize({ width: 1180, height: 1140 });
    await page.mouse.move(0, 0);
    await page.evaluate(`document.querySelector("${LIST}").scrollIntoView()`);
    await page.screenshot({ path: PAGE_SCREENSHOT, animations: "disabled" });
  }
  await page.click(`${LIST} .btn-clear`);
  await after.fill(`-${CATEGORY}`);
  await execute(page, LIST);
  for (const query of ["limit=1", `limit=20&after=-${CATEGORY}`]) {
    assert.ok(requests.includes(`${origin}/v1/pets?${query}`), query);
  }

  await open(page, CREATE);
  for (const name of ["Zoë", "Tom"]) { // and no key of idempotency for both
    const pet = `{"name":"${name}","categoryId":-${CATEGORY}}`;
    await page.fill(`${CREATE} textarea`, pet);
    const added = await execute(page, CREATE);
    assert.equal(added.status, "201");
    assert.match(added.body, new RegExp(`"categoryId": -${CATEGORY},`));
    await page.click(`${CREATE} .btn-clear`);
  }

  await page.fill(`${CREATE} textarea`, '{"name":"","categoryId":1}');
  const refused = await execute(page, CREATE);
  assert.equal(refused.status, "400");
  assert.match(refused.body, /"Cannot create pet: name must not be empty"/);
  // The browser itself logs a status of 400; the page logs nothing.
  assert.equal(complaints.length, 1);
  assert.match(complaints[0] ?? "", /status of 400 .*\/v1\/pets$/);
});

it("an example is shown and sent to the last digit, and the answer shows no key", async ({ page, origin, keys }) => {
  await page.getByText("paste an API key").waitFor();
  keys.add("Bob's-secret");
  await enterKey(page, "Bob's-secret");
  await page.locator(".btn.authorize", { hasText: "Change key" }).waitFor();
  await open(page, CREATE);
  assert.equal(page.url(), `${origin}/#/animals/createPet`);
  const section = page.locator(CREATE);
  assert.equal(
    await section.locator(".body-param-content-type select").isDisabled(),
    true,
  );
  const body = section.locator("textarea");
  await section.getByLabel("Example", { exact: true }).first()
    .selectOption("exact");
  assert.match(await body.inputValue(), RegExp(`: ${CATEGORY},`));
  const added = await execute(page, CREATE);
  assert.equal(added.status, "201");
  assert.match(added.body, RegExp(`"categoryId": ${CATEGORY},`));

  const answer = section.locator(".answer");
  const box = await answer.locator("h4").first().boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y < 880, JSON.stringify(box));
  const shown = await answer.innerText();
  assert.match(shown, /Authorization: Bearer \$KEY'/);
  assert.doesNotMatch(shown, /secret/);
  assert.match(shown, /^content-type: application\/json$/m);
  await page.context().grantPermissions(["clipboard-read"]);
  await answer.locator(".curl-command button").click();
  const copied = await page.evaluate("navigator.clipboard.readText()");
  assert.match(`${copied}`, /Authorization: Bearer Bob'\\''s-secret'/);

  await body.fill("{}");
  const reset = await section.locator(".reset").boundingBox();
  const run = await section.locator(".execute").boundingBox();
  assert.ok(reset && run && Math.abs(reset.y - run.y) < 24, "beside Execute");
  await body.fill("");
  await section.locator(".execute").click();
  await answer.locator("h4", { hasText: /^400$/ }).waitFor();
  await answer.getByText(/Cannot read the body: it is missing/).waitFor();
  assert.doesNotMatch(await answer.innerText(), RegExp(CATEGORY));
});

onPage(PHONE)(
  "the page fits a phone, light or dark, and leads from a 401 to the form",
  async ({ page, complaints }) => {
    for (const operation of [LIST, CREATE, GET]) {
      const box = await page.locator(operation).boundingBox();
      assert.ok(box !== null && box.y + box.height < 844, operation);
    }
    assert.equal(await page.getByText("Servers").count(), 0);
    const prose = page.getByText("Every operation on pets needs");
    assert.equal(await prose.isVisible(), false);
    await page.getByText("Read this before").click();
    await prose.waitFor();
    await page.getByText("Read this before").click();

    assert.notEqual(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
    const widest = `Math.max(document.documentElement.scrollWidth,
    document.body.scrollWidth)`;
    assert.equal(await page.evaluate(widest), 390);
    await enterKey(page, "secret");
    await open(page, LIST);
    // One column: a field has the width of the screen, not what a name beside it leaves.
    const field = await page.locator(`${LIST} .parameters input`).first()
      .boundingBox();
    assert.ok(field !== null && field.width > 300, JSON.stringify(field));
    assert.equal((await execute(page, LIST)).status, "200");
    await open(page, CREATE);
    assert.equal(await page.evaluate(widest), 390);
    assert.deepEqual(complaints, []);

    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload(); // which forgets the key
    await page.locator(".opblock").first().waitFor();
    assert.equal(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
    await open(page, GET);
    await page.fill(`${GET} tr[data-param-name="petId"] input`, "1");
    const refused = await execute(page, GET);
    assert.equal(refused.status, "401");
    assert.match(refused.body, /API key is missing/);

    // Far down the page, the hint points to the bar at the top, which opens the form.
    const hint = page.locator(`${GET} [role="alert"]`);
    assert.match(await hint.innerText(), /Press Authorize/);
    const bar = await page.locator(".btn.authorize").boundingBox();
    assert.ok(bar !== null && bar.y >= 0 && bar.y < 60, JSON.stringify(bar));
    await enterKey(page, "secret");
    await page.click(`${GET} .btn-clear`); // or the 401 may be read once more
    assert.equal((await execute(page, GET)).status, "200");
    assert.equal(await hint.count(), 0);
  },
);

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
      assert.deepEqual(await stores(page), kept);
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

it("the page with the form for the key meets WCAG 2.2 AA, also dark and on a phone", async ({ page }) => {
  await open(page, LIST);
  assert.equal((await execute(page, LIST)).status, "401");
  await page.click(".btn.authorize");
  await page.getByText("when you reload").waitFor();
  await page.getByText("If you run this service").click();
  await fillInKey(page, "wrong", INVALID);
  await assertAccessible(page);
  await fillInKey(page, "secret");
  await page.click(".btn.authorize");
  await page.getByRole("button", { name: "Forget" }).waitFor();
  await assertAccessible(page);
});

it("the page with answers meets WCAG 2.2 AA, also dark and on a phone", async ({ page }) => {
  await enterKey(page, "secret");
  await open(page, CREATE);
  assert.equal((await execute(page, CREATE)).status, "201");
  await open(page, GET);
  await page.fill(`${GET} tr[data-param-name="petId"] input`, "3");
  assert.equal((await execute(page, GET)).status, "404");
  await page.click(".models-control");
  await page.locator(".models.is-open").waitFor();
  for (const summary of await page.locator("summary").all()) {
    await summary.click();
  }
  await assertAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await violations(page, "tag", TAGS), []);
});

it("the form hides the key until it is told to show it, and gives the focus back", async ({ page }) => {
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
      assert.equal(await title.innerText(), "API key");
      await close();
      await page.locator(`${opener}:focus`).waitFor();
      assert.equal(await page.locator("dialog").count(), 0);
    }
    await page.click(opener);
    await page.getByRole("button", { name: "Forget" }).click();
    assert.equal(await key.getAttribute("type"), "password");
    assert.equal(await key.getAttribute("autocomplete"), "current-password");
    const account = page.locator('[autocomplete="username"]');
    assert.equal(await account.inputValue(), "API key of /v1/");
    await key.fill("secret");
    await page.getByLabel("Show").check();
    assert.equal(await key.getAttribute("type"), "text");
    assert.equal(await key.inputValue(), "secret");
    await page.keyboard.press("Escape");
  }
});

it("a double click on Authorize opens the form, ready for the key", async ({ page }) => {
  await page.dblclick(".btn.authorize");
  await page.keyboard.type("secret");
  await page.keyboard.press("Enter");
  await page.getByText("Key accepted").waitFor();
  assert.equal(await page.locator("dialog").count(), 0);
});

it("Execute keeps the focus, and sends nothing while a request is in progress", async ({ page }) => {
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

it("Execute sends a request from the moment it shows", async ({ page }) => {
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

it("Execute shows an answer that is empty, not text, or cut short", async ({ page }) => {
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
  timeout: 180_000,
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

it("Execute gives up after a minute without an answer", async ({ page, waits }) => {
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

it("answers to earlier keys change nothing once another key is entered", async ({ page, keys, waits }) => {
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
  await page.click(".auth-btn-wrapper .authorize");
  // From its cache, Chromium would answer it 20 s later.
  await page.getByText("Key accepted").waitFor({ timeout: 15_000 });

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

it("an operation's own address shows it below the bar", async ({ page, origin }) => {
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
    return last[0] === bottom && last[1] === top && top >= bottom && top < 100;
  });
});

it("all operations open take six screens at most", async ({ page }) => {
  const all = [LIST, CREATE, GET, DOCUMENT];
  for (const operation of all) {
    await open(page, operation);
    await page.locator(`${operation} .responses-wrapper`).waitFor();
  }
  const height = "document.documentElement.scrollHeight";
  const screens = Number(await page.evaluate(height)) / 900;
  assert.ok(screens > 3 && screens <= 6, `${screens} screens`);
  const error = page.locator(`${LIST} tr.response[data-code="429"]`);
  const shown = [
    error.getByText(`"too_many_requests"`),
    error.getByText("Retry-After", { exact: true }),
  ];
  for (const part of shown) assert.equal(await part.isVisible(), false);
  await error.getByText("Details").click();
  for (const part of shown) await part.waitFor();
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
