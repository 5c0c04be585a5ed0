/** The page and its files as routes. */

import { readFile } from "node:fs/promises";
import { type Answer, withFields } from "../../core/http/message.ts";
import type { Route } from "../../core/http/router.ts";
import {
  type StaticContent,
  staticContent,
} from "../../core/http/static_content.ts";
import { checkNames } from "../../core/options.ts";

/** Settings of `docs`. */
export interface DocsOptions {
  /** The path of the OpenAPI document, on the same server. Default: `/v1/openapi.json`. */
  readonly openApiUrl?: string;
  /** Where the page is; its files are below. Default: `/docs`. */
  readonly path?: string;
  /** Another path that shows the same page, such as `/`. Default: none. */
  readonly alias?: string;
  /**
   * If true, an accepted API key survives a reload, in the tab's `sessionStorage`. All scripts of the
   * same origin can read it there, so switch this on only if you trust them all. Default: `false`.
   */
  readonly rememberKey?: boolean;
}

/** The size of the pieces in which Deno sends a large file, in bytes. */
const PIECE = 128 * 1024;

/** A route of the page or one of its files; it needs no key. */
export interface DocsRoute extends Route {
  readonly answer: StaticContent;
}

/**
 * The page has no inline script or style, evaluates no text, and talks only to its own server: a key
 * goes nowhere else. The icons of the style sheet are `data:` URLs.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** The files that the page loads: name, media type, and module specifier. */
const FILES: readonly (readonly [string, string, string])[] = [
  ["swagger-ui.css", CSS, "swagger-ui-dist/swagger-ui.css"],
  ["swagger-ui.js", JAVASCRIPT, "swagger-ui-dist/swagger-ui-bundle.js"],
  ["page.css", CSS, "./page.css"],
  ["page.js", JAVASCRIPT, "./page.js"],
];

/** Makes the routes, or throws as `docs` does. Each reads its file when it is first asked. */
export function docsRoutes(options: DocsOptions): readonly DocsRoute[] {
  checkNames(options, ["openApiUrl", "path", "alias", "rememberKey"], "docs");
  const { openApiUrl = "/v1/openapi.json", path = "/docs" } = options;
  const { alias = path, rememberKey } = options;
  checkPaths({ openApiUrl, path, alias });
  if (path.endsWith("/")) {
    throw new TypeError('Wrong option path: it must not end in "/"');
  }

  const html = async (page: string): Promise<string> =>
    (await readText("./page.html"))
      .replaceAll("__files__", () => escapeHtml(relative(page, path)))
      .replaceAll("__openApi__", () => escapeHtml(relative(page, openApiUrl)))
      .replaceAll("__rememberKey__", `${rememberKey === true}`);
  const pages = [...new Set([path, alias])];
  return [
    ...pages.map((page) => route(page, HTML, () => html(page))),
    ...FILES.map(([name, mediaType, specifier]) =>
      route(`${path}/${name}`, mediaType, () => readText(specifier))
    ),
  ];
}

/** Reads all files now. @throws {Error} if one cannot be read. */
export async function loadDocs(routes: readonly DocsRoute[]): Promise<void> {
  const request = { headers: new Headers() };
  await Promise.all(routes.map(({ answer }) => answer(request)));
}

function route(
  path: string,
  mediaType: string,
  text: () => Promise<string>,
): DocsRoute {
  const content = staticContent(text, {
    "content-type": mediaType,
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
  });
  const answer: StaticContent = async (request) =>
    inPieces(await content(request));
  return { method: "GET", path, answer };
}

/**
 * Has a large file sent piece by piece, as the client takes it. Deno would copy all of it for each client
 * that asks and reads nothing, as HTTP/2 allows 200 times a connection; Bun and Node do not.
 */
function inPieces(answer: Answer): Answer {
  const { body } = answer;
  const isLarge = "Deno" in globalThis && body instanceof Uint8Array &&
    body.byteLength > PIECE;
  if (!isLarge) return answer;
  const length = { "content-length": String(body.byteLength) };
  const pieces = ReadableStream.from(piecesOf(body));
  return { ...withFields(answer, length), body: pieces };
}

function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.byteLength; start += PIECE) {
    yield body.subarray(start, start + PIECE);
  }
}

async function readText(specifier: string): Promise<string> {
  try {
    return await readFile(new URL(import.meta.resolve(specifier)), "utf8");
  } catch (cause) {
    const message = `Cannot read ${specifier}, which the docs page needs`;
    throw new Error(message, { cause });
  }
}

/** Makes a relative reference to the path `to` from a page at the path `from` (RFC 3986 §4.2). */
function relative(from: string, to: string): string {
  return "../".repeat(from.split("/").length - 2) + to.slice(1);
}

function checkPaths(options: Readonly<Record<string, string>>): void {
  for (const [name, path] of Object.entries(options)) {
    if (/^\/(?!\/)[^?#\\]*$/.test(path)) continue;
    throw new TypeError(
      `Wrong option ${name}: it must be a path that begins with one "/"`,
    );
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
