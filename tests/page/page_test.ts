/**
 * The documentation page in a real browser: what a client developer sees and does there.
 *
 * `PAGE_SCREENSHOT=docs/page.png` also writes the picture that the README shows.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import test from "node:test";
import { readConfig } from "../../adapters/standalone/config.ts";
import { loadRuntime } from "../../adapters/standalone/runtime.ts";
import { openService } from "../../adapters/standalone/service.ts";
import { chromium, openPage, type Page, type View } from "./browser.ts";

const DESKTOP: View = { width: 1280, height: 900, scheme: "light" };
const PHONE: View = { width: 390, height: 844, scheme: "light" };
const DARK: View = { ...DESKTOP, scheme: "dark" };

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
  view: View,
  check: (page: Page, origin: string) => Promise<void>,
): void {
  const skip = chromium === undefined && "there is no Chromium here";
  test(name, { skip, timeout: 120_000 }, async () => {
    assert.ok(chromium !== undefined);
    const { serve, Response } = await loadRuntime();
    const service = await openService(
      readConfig({
        DATABASE_URL: "memory:",
        PETSTORE_API_KEYS: "secret",
        REQUEST_LOG: "off",
      }),
      Response,
    );
    const server = await serve((request) => service.app.fetch(request), {
      port: 0,
    });
    const page = await openPage(chromium, `${server.url}/`, view);
    try {
      await page.until(`document.querySelector(".opblock") !== null`);
      await check(page, server.url);
      assert.deepEqual(
        page.requests.filter((url) =>
          !url.startsWith(`${server.url}/`) && !url.startsWith("data:") &&
          !url.startsWith("blob:") && url !== "about:blank"
        ),
        [],
        "requests that leave this server",
      );
    } finally {
      await page.close();
      await server.close();
      await service.close();
    }
  });
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.click(".btn.authorize");
  await page.fill(".auth-container input", key);
  await page.click(".auth-btn-wrapper .authorize");
  await page.click(".auth-btn-wrapper .btn-done");
}

async function tryOut(page: Page, operation: string): Promise<void> {
  await page.click(`${operation} .opblock-summary-control`);
  await page.click(`${operation} .try-out__btn`);
}

/** Sends the request; fulfilled with the status and the body that the page shows. */
async function execute(
  page: Page,
  operation: string,
): Promise<{ readonly status: string; readonly body: string }> {
  const row = `${operation} .live-responses-table`;
  await page.click(`${operation} .execute`);
  await page.until(`document.querySelector("${row} .highlight-code") !== null`);
  const text = (selector: string): Promise<unknown> =>
    page.evaluate(`document.querySelector("${row} ${selector}").innerText`);
  const status = String(await text("tr.response .response-col_status"));
  const body = String(await text(".highlight-code code, .highlight-code pre"));
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
  "the page lists animals with a key, sends and shows every digit, and keeps the key nowhere",
  DESKTOP,
  async (page, origin) => {
    await addPet(origin, CATEGORY);
    await enterKey(page, "secret");
    await tryOut(page, LIST);
    await page.fill(
      `${LIST} tr[data-param-name="after"] input`,
      `-${CATEGORY}`,
    );
    const { status, body } = await execute(page, LIST);
    assert.equal(status, "200");
    assert.deepEqual(
      body.replace(/\s/g, ""),
      [
        `[{"id":1,"name":"Rex","categoryId":${CATEGORY},"status":"available"}]`,
      ].join(),
    );
    assert.ok(
      page.requests.includes(`${origin}/v1/pets?limit=20&after=-${CATEGORY}`),
    );
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(
      await page.evaluate(
        `[{ ...localStorage }, { ...sessionStorage }, document.cookie]`,
      ),
      [{}, {}, ""],
    );
    assert.ok(page.requests.every((url) => !url.includes("secret")));
    const { PAGE_SCREENSHOT } = process.env;
    if (PAGE_SCREENSHOT !== undefined) {
      await page.evaluate(`document.querySelector(
        "${LIST} .parameters-container").scrollIntoView()`);
      await writeFile(
        PAGE_SCREENSHOT,
        new Uint8Array(Buffer.from(await page.screenshot(), "base64")),
      );
    }
  },
);

onPage(
  "the page adds an animal to the last digit, and shows what is wrong with a body",
  DESKTOP,
  async (page) => {
    await enterKey(page, "secret");
    await tryOut(page, CREATE);
    await page.fill(
      `${CREATE} textarea`,
      `{"name":"Zoë","categoryId":-${CATEGORY}}`,
    );
    const added = await execute(page, CREATE);
    assert.equal(added.status, "201");
    assert.match(added.body, new RegExp(`"categoryId": -${CATEGORY},`));
    assert.deepEqual(page.complaints, []);

    await page.click(`${CREATE} .btn-clear`);
    await page.fill(`${CREATE} textarea`, '{"name":"","categoryId":1}');
    const refused = await execute(page, CREATE);
    assert.equal(refused.status, "400");
    assert.match(refused.body, /"Cannot create pet: name must not be empty"/);
    // The browser itself notes a status of 400; the page has nothing to complain of.
    assert.equal(page.complaints.length, 1);
    assert.match(page.complaints[0] ?? "", /status of 400 .*\/v1\/pets$/);
  },
);

onPage(
  "the page is light, and shows the 401 to who has no key",
  DESKTOP,
  async (page) => {
    assert.notEqual(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
    await tryOut(page, GET);
    await page.fill(`${GET} tr[data-param-name="petId"] input`, "1");
    const { status, body } = await execute(page, GET);
    assert.equal(status, "401");
    assert.match(body, /API key is missing/);
  },
);

onPage("the page fits a phone", PHONE, async (page, origin) => {
  await addPet(origin, CATEGORY);
  const widest = `Math.max(document.documentElement.scrollWidth,
    document.body.scrollWidth)`;
  assert.equal(await page.evaluate(widest), PHONE.width);
  await enterKey(page, "secret");
  await tryOut(page, LIST);
  assert.equal((await execute(page, LIST)).status, "200");
  await tryOut(page, CREATE);
  await page.click(`${GET} .opblock-summary-control`);
  await page.until(
    `document.querySelector("${GET} .responses-table") !== null`,
  );
  assert.equal(await page.evaluate(widest), PHONE.width);
  assert.deepEqual(page.complaints, []);
});

onPage("the page follows the dark scheme", DARK, async (page) => {
  assert.equal(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
  assert.deepEqual(page.complaints, []);
});
