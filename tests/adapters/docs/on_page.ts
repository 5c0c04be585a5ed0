/** What tests of the documentation page share: a server with the page, and a browser on it. */

import assert from "node:assert/strict";
import test from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { docs, type DocsOptions } from "../../../adapters/docs/mod.ts";
import { memoryStorage } from "../../../adapters/storage/memory/mod.ts";
import { listen } from "../../support/server.ts";
import { createHandler } from "../../../adapters/handler.ts";
import { RUNTIME, skipping } from "../../support/runtime.ts";
import { newPet, REX } from "../../support/pets.ts";
import { noBrowser, type Opened, openPage } from "../../support/browser.ts";

/** A browser shows the same page whatever runtime serves it. */
const notDeno = RUNTIME !== "deno" && "the page is tested on Deno";
export const skip = notDeno || skipping(noBrowser);

export const DESKTOP: BrowserContextOptions = {
  viewport: { width: 1280, height: 900 },
  colorScheme: "light",
};
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  colorScheme: "light",
};

/** How long a test of the page may take, in ms: on a busy machine each start takes a minute. */
export const PAGE_TIMEOUT = 600_000;

/** Beyond 2^53: a page that reads it with JSON.parse shows 9007199254740992. */
export const CATEGORY = "9007199254740993";
export const LIST = "#operations-animals-listPets";
export const CREATE = "#operations-animals-createPet";
export const GET = "#operations-animals-getPet";
export const DOCUMENT = "#operations-service-getOpenApi";

export const INVALID = "API key is invalid: it is unknown, expired or revoked";

export const BACKGROUND = "getComputedStyle(document.body).backgroundColor";
export const DARK_BACKGROUND = "rgb(28, 32, 34)";

/** A server with the page and a service with one pet, and a page that shows it. */
export interface Shown extends Opened {
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
export function onPage(
  options: BrowserContextOptions & DocsOptions,
): (title: string, check: (shown: Shown) => Promise<void>) => void {
  return (title, check) =>
    void test(title, { skip, timeout: PAGE_TIMEOUT }, async (t) => {
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

/** Everything that a page can keep. */
export async function stores(page: Page): Promise<unknown> {
  return await page.evaluate(
    "[{ ...localStorage }, { ...sessionStorage }, document.cookie]",
  );
}

/** Fills in the form for the key, and waits for what it says. */
export async function fillInKey(
  page: Page,
  key: string,
  said = "Key accepted",
): Promise<void> {
  await page.fill("#auth-bearer-value", key);
  await page.click(".auth-btn-wrapper .authorize");
  await page.getByText(said).waitFor();
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.click(".btn.authorize");
  await fillInKey(page, key);
}

export async function open(page: Page, operation: string): Promise<void> {
  await page.click(
    `${operation} .opblock-summary-control .opblock-summary-method`,
  );
}

/** Sends the request; resolves to the status and the body that the page shows. */
export async function execute(
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

/** Registers tests of the page on a desktop. */
export const onDesktop = { test: onPage(DESKTOP) };
