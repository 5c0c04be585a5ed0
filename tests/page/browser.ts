/**
 * A browser, as far as a test needs one: Chromium, spoken to in its own DevTools protocol. A package
 * for that would be larger than this repository, and everyone who starts the server would fetch it.
 *
 * @see {@link https://chromedevtools.github.io/devtools-protocol/}
 * @module
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Where a browser is looked for. */
const PROGRAMS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The browser's program; `undefined` where there is none. */
export const chromium: string | undefined = PROGRAMS.find((path) =>
  path !== undefined && existsSync(path)
);

/** How a page is shown. */
export interface View {
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
}

/** A page in a browser of its own. */
export interface Page {
  /** The addresses of all requests since the start. */
  readonly requests: readonly string[];
  /** What was written on the console as a warning or an error, and what was thrown. */
  readonly complaints: readonly string[];
  /** Evaluates an expression in the page; waits where it is a promise. */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until an expression holds; rejects after ten seconds. */
  until(expression: string): Promise<void>;
  /** Clicks the first element that a selector finds, once it is there. */
  click(selector: string): Promise<void>;
  /** Types a text over what a field has. */
  fill(selector: string, text: string): Promise<void>;
  /** A picture of what is seen, as PNG in base64. */
  screenshot(): Promise<string>;
  close(): Promise<void>;
}

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  // deno-lint-ignore no-explicit-any -- the protocol's own shapes
  readonly params?: any;
  // deno-lint-ignore no-explicit-any -- the protocol's own shapes
  readonly result?: any;
  readonly error?: { readonly message: string };
};

/** Starts a browser that shows `url`. */
export async function openPage(
  program: string,
  url: string,
  { width, height, scheme }: View,
): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), "chromium-"));
  const browser = spawn(program, [
    "--headless=new",
    "--no-sandbox", // it shows nothing but our own page
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    `--user-data-dir=${profile}`,
    "about:blank",
  ], { stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => browser.once("exit", resolve));

  const endpoint = await new Promise<string>((resolve, reject) => {
    let written = "";
    browser.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      written += chunk;
      const found = /DevTools listening on (ws:\S+)/.exec(written)?.[1];
      if (found !== undefined) resolve(found);
    });
    browser.once("exit", () => reject(new Error(`No browser: ${written}`)));
  });
  const socket = new WebSocket(endpoint);
  await new Promise((resolve) => socket.addEventListener("open", resolve));

  const waiting = new Map<number, (message: Message) => void>();
  const requests: string[] = [];
  const complaints: string[] = [];
  let lastId = 0;

  socket.addEventListener("message", ({ data }) => {
    const message: Message = JSON.parse(String(data));
    if (message.id !== undefined) return waiting.get(message.id)?.(message);
    const { method, params } = message;
    if (method === "Network.requestWillBeSent") {
      requests.push(params.request.url);
    }
    if (method === "Runtime.exceptionThrown") {
      complaints.push(JSON.stringify(params.exceptionDetails));
    }
    if (
      method === "Runtime.consoleAPICalled" &&
      ["error", "warning", "assert"].includes(params.type)
    ) complaints.push(JSON.stringify(params.args));
    if (
      method === "Log.entryAdded" &&
      ["error", "warning"].includes(params.entry.level)
    ) complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
  });

  function command(
    message: Message,
    // deno-lint-ignore no-explicit-any -- the protocol's own shapes
  ): Promise<any> {
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(`${message.method}: ${error.message}`));
      });
      socket.send(JSON.stringify({ ...message, id }));
    });
  }

  const { targetId } = await command({
    method: "Target.createTarget",
    params: { url: "about:blank" },
  });
  const { sessionId } = await command({
    method: "Target.attachToTarget",
    params: { targetId, flatten: true },
  });
  // deno-lint-ignore no-explicit-any -- the protocol's own shapes
  const send = (method: string, params = {}): Promise<any> =>
    command({ method, params, sessionId });
  for (const domain of ["Page", "Network", "Runtime", "Log"]) {
    await send(`${domain}.enable`);
  }
  await send("Emulation.setDeviceMetricsOverride", {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: width < 600,
  });
  await send("Emulation.setEmulatedMedia", {
    features: [{ name: "prefers-color-scheme", value: scheme }],
  });
  await send("Page.navigate", { url });

  async function evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails === undefined) return result.value;
    throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
  }

  // Looked at once a frame, in the page: nothing here sleeps. The page may still be on its way.
  async function until(expression: string): Promise<void> {
    const held = await evaluate(`new Promise((resolve) => {
      const end = performance.now() + 10_000;
      (function look() {
        if (${expression}) resolve(true);
        else if (performance.now() > end) resolve(false);
        else requestAnimationFrame(look);
      })();
    })`);
    if (held !== true) {
      throw new Error(`${expression} did not come to hold; ${complaints}`);
    }
  }

  async function reach(selector: string): Promise<string> {
    const element = `document.querySelector(${JSON.stringify(selector)})`;
    await until(`${element} !== null`);
    return element;
  }

  return {
    requests,
    complaints,
    evaluate,
    until,
    async click(selector) {
      const element = await reach(selector);
      // By the mouse, as a person does it: the field that was typed into loses the focus.
      const { x, y } = await evaluate(`(() => {
        ${element}.scrollIntoView({ block: "center" });
        const { x, y, width, height } = ${element}.getBoundingClientRect();
        return { x: x + width / 2, y: y + height / 2 };
      })()`) as { readonly x: number; readonly y: number };
      for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
        await send("Input.dispatchMouseEvent", {
          type,
          x,
          y,
          ...(type === "mouseMoved" ? {} : { button: "left", clickCount: 1 }),
        });
      }
    },
    async fill(selector, text) {
      const element = await reach(selector);
      await evaluate(`${element}.focus(), ${element}.select()`);
      await send("Input.insertText", { text });
    },
    async screenshot() {
      return (await send("Page.captureScreenshot", { format: "png" })).data;
    },
    async close() {
      await command({ method: "Browser.close" });
      await exited;
      socket.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
