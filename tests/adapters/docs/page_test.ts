/**
 * The documentation page in a real browser: what a client developer sees and does there.
 *
 * `PAGE_SCREENSHOT=docs/page.png` also writes the picture that the README shows.
 */
import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { openService } from "../../../adapters/standalone/service.ts";
import { skipping } from "../../support/skipping.ts";
import { noBrowser, type Opened, openPage } from "./browser.ts";

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

const BACKGROUND = "getComputedStyle(document.body).backgroundColor";
const DARK_BACKGROUND = "rgb(28, 32, 34)";

/** Registers a test with a page that shows a server of its own, where there is a browser. */
function onPage(
  name: string,
  options: BrowserContextOptions,
  check: (opened: Opened, origin: string) => Promise<void>,
): void {
  test(name, { skip, timeout: 120_000 }, async () => {
    const opened = await openPage(options);
    const serve = await loadServe();
    const service = await openService(readConfig({
      DATABASE_URL: "memory:",
      PETSTORE_API_KEYS: "secret",
      REQUEST_LOG: "off",
    }));
    const server = await serve(service.handle, { port: 0 });
    try {
      await opened.page.goto(`${server.url}/`);
      await opened.page.locator(".opblock").first().waitFor();
      await check(opened, server.url);
      assert.ok(opened.requests.includes(`${server.url}/`));
      assert.deepEqual(
        opened.requests.filter((url) =>
          !url.startsWith(`${server.url}/`) && !url.startsWith("data:") &&
          !url.startsWith("blob:") && url !== "about:blank"
        ),
        [],
        "requests that leave this server",
      );
    } finally {
      await opened.close();
      await server.close();
      await service.close();
    }
  });
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.click(".btn.authorize");
  await fillInKey(page, key);
  await page.getByText("Key accepted").waitFor();
}

async function fillInKey(page: Page, key: string): Promise<void> {
  await page.fill(".auth-container input", key);
  await page.click(".auth-btn-wrapper .authorize");
}

async function open(page: Page, operation: string): Promise<void> {
  await page.click(`${operation} .opblock-summary-control`);
}

/** Sends the request; fulfilled with the status and the body that the page shows. */
async function execute(
  page: Page,
  operation: string,
): Promise<{ readonly status: string; readonly body: string }> {
  await page.click(`${operation} .execute`);
  const row = page.locator(`${operation} .live-responses-table tr.response`);
  const body = await row.locator(".highlight-code").locator("code, pre").first()
    .innerText();
  const status = await row.locator(".response-col_status").innerText();
  return { status: status.trim().slice(0, 3), body };
}

async function addPet(origin: string, categoryId: string): Promise<void> {
  const response = await fetch(`${origin}/v1/pets`, {
    method: "POST",
    headers: {
      authorization: "Bearer secret",
      "content-type": "application/json",
    },
    body: `{"name":"Rex","categoryId":${categoryId}}`,
  });
  assert.equal(response.status, 201);
  await response.body?.cancel();
}

onPage(
  "the page lists and adds animals with a key, to the last digit, and keeps the key nowhere",
  DESKTOP,
  async ({ page, requests, complaints }, origin) => {
    await addPet(origin, CATEGORY);
    await enterKey(page, "secret");
    await open(page, LIST);
    await page.fill(
      `${LIST} tr[data-param-name="after"] input`,
      `-${CATEGORY}`,
    );
    const { status, body } = await execute(page, LIST);
    assert.equal(status, "200");
    assert.equal(
      body.replace(/\s/g, ""),
      `[{"id":1,"name":"Rex","categoryId":${CATEGORY},"status":"available"}]`,
    );
    assert.ok(
      requests.includes(`${origin}/v1/pets?limit=20&after=-${CATEGORY}`),
    );
    assert.deepEqual(complaints, []);
    assert.deepEqual(
      await page.evaluate(
        `[{ ...localStorage }, { ...sessionStorage }, document.cookie]`,
      ),
      [{}, {}, ""],
    );
    assert.ok(requests.every((url) => !url.includes("secret")));
    const { PAGE_SCREENSHOT } = process.env;
    if (PAGE_SCREENSHOT !== undefined) {
      // From the operation's own line to the end of the response's body.
      await page.setViewportSize({ width: 1180, height: 1056 });
      await page.evaluate(`document.querySelector("${LIST}").scrollIntoView()`);
      await page.screenshot({ path: PAGE_SCREENSHOT });
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
    // The browser itself notes a status of 400; the page has nothing to complain of.
    assert.equal(complaints.length, 1);
    assert.match(complaints[0] ?? "", /status of 400 .*\/v1\/pets$/);
  },
);

onPage(
  "the page fits a phone, light or dark, and shows a 401 to who has no key, and the documented errors folded",
  PHONE,
  async ({ page, complaints }, origin) => {
    assert.notEqual(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
    await addPet(origin, CATEGORY);
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
    const documented = page.locator(`${GET} details [data-code="401"]`);
    assert.equal(await documented.isVisible(), false);
    await page.click(`${GET} summary`);
    await documented.waitFor();
  },
);

onPage(
  "the operations are on the first screen of a phone; prose and the service's own operations are folded",
  PHONE,
  async ({ page }, origin) => {
    assert.equal(await page.locator(".opblock").count(), 3);
    for (const operation of [LIST, CREATE, GET]) {
      const box = await page.locator(operation).boundingBox();
      assert.ok(box !== null && box.y + box.height < 844, operation);
    }
    assert.equal(await page.getByText("Servers").count(), 0);
    const prose = page.getByText("Every operation on pets needs");
    assert.equal(await prose.isVisible(), false);
    await page.getByText("Read this before").click();
    await prose.waitFor();

    await page.goto(`${origin}/docs#/service/getOpenApi`);
    await page.locator("#operations-service-getOpenApi").waitFor();
  },
);

onPage(
  "a key is used once the service accepts it, and the form says where keys come from",
  DESKTOP,
  async ({ page }) => {
    await page.click(".btn.authorize");
    await page.getByText("deno task keys issue NAME").waitFor();
    await fillInKey(page, "wrong");
    await page.getByText("API key is invalid: it is unknown").waitFor();
    await page.route("**/v1/pets*", (route) => route.abort());
    await fillInKey(page, "secret");
    await page.locator(".errors", { hasText: "Failed to fetch" }).waitFor();
    assert.match(
      await page.locator(".errors").innerText(),
      /^\s*not accepted/i,
    );
    assert.equal(await page.getByText("Requests need an API key").count(), 1);
    await page.unrouteAll();
    await fillInKey(page, "secret");
    await page.getByText("Key accepted").waitFor();
  },
);
