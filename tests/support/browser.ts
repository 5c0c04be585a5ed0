/** This machine's Chromium, driven by Playwright. */

import { existsSync } from "node:fs";
import { after, type TestContext } from "node:test";
import process from "node:process";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { atEnd } from "./at_end.ts";

const [chromium, failure] = await import("playwright-core").then(
  (playwright) => [playwright.chromium, undefined] as const,
  (error: unknown) => [undefined, `no playwright-core: ${error}`] as const,
);
const executablePath = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== undefined && existsSync(path));

/** Why there is no browser; `false` if there is one. */
export const noBrowser: string | false = failure ??
  (executablePath === undefined && "there is no Chromium here");

let browser: Promise<Browser> | undefined;
after(async () => await (await browser)?.close());

/** An empty page, which shares nothing with earlier pages. */
export interface Opened {
  readonly page: Page;
  /** The addresses of all requests. */
  readonly requests: readonly string[];
  /** Warnings and errors on the console, and what was thrown. */
  readonly complaints: readonly string[];
}

/**
 * Opens a page, which is closed after the test. Playwright's own arguments keep the browser, one
 * for all pages, from calling home.
 */
export async function openPage(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  if (!chromium || !executablePath) throw new Error(`${noBrowser}`);
  const args = ["--disable-gpu"];
  // Bun runs all files in one process, and `after` after the first of them.
  if (!(await browser)?.isConnected()) {
    browser = chromium.launch({ executablePath, args });
  }
  const context = await (await browser as Browser).newContext(options);
  atEnd(t, () => context.close());
  context.setDefaultTimeout(170_000); // a busy machine takes a minute to show a page
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  // Playwright's event "request" omits every favicon.ico, on any server.
  const devTools = await context.newCDPSession(page);
  devTools.on("Network.requestWillBeSent", (sent) => {
    requests.push(sent.request.url);
  });
  await devTools.send("Network.enable");
  context.on("weberror", (thrown) => complaints.push(String(thrown.error())));
  context.on("console", (message) => {
    if (!["error", "warning", "assert"].includes(message.type())) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  return { page, requests, complaints };
}
