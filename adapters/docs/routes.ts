/** The page and its files as routes. */

import { readFile } from "node:fs/promises";
import type { Answer, ServiceRequest } from "../../core/http/message.ts";
import type { Route } from "../../core/http/router.ts";
import { staticContent } from "../../core/http/static_content.ts";
import { checkNames } from "../../core/options.ts";

/** Settings of `docs`. */
export interface DocsOptions {
  /** The path of the OpenAPI document, on the same server. Default: `/v1/openapi.json`. */
  readonly openApiUrl?: string;
  /** Where the page is; its files are below. Default: `/docs`. */
  readonly path?: string;
  /** Another path that shows the same page, such as `/`. Default: none. */
  readonly alias?: string;
}

/** A route of the page or one of its files; it needs no key. */
export interface DocsRoute extends Route {
  readonly isPublic: true;
  readonly run: (
    call: { readonly request: Pick<ServiceRequest, "headers"> },
  ) => Promise<Answer>;
}

/**
 * The page has no inline script or style, evaluates no text, and talks only to its own server: a key
 * goes nowhere else. The style sheet has its icons in `data:`.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** The files that the page loads: name, media type, and where they are. */
const FILES: readonly (readonly [string, string, string])[] = [
  ["swagger-ui.css", CSS, "swagger-ui-dist/swagger-ui.css"],
  ["swagger-ui.js", JAVASCRIPT, "swagger-ui-dist/swagger-ui-bundle.js"],
  ["page.css", CSS, "./page.css"],
  ["page.js", JAVASCRIPT, "./page.js"],
];

/**
 * Makes the routes. Each reads its file when it is first asked, or by {@linkcode loadDocs}.
 *
 * @throws {TypeError} if an option is unknown, a path does not begin with one `/`, or `path` ends in one.
 */
export function docsRoutes(options: DocsOptions): readonly DocsRoute[] {
  checkNames(options, ["openApiUrl", "path", "alias"], "docs");
  const { openApiUrl = "/v1/openapi.json", path = "/docs", alias } = options;
  checkPath(openApiUrl, "openApiUrl");
  checkPath(path, "path");
  if (path.endsWith("/")) {
    throw new TypeError('Wrong option path: it must not end in "/"');
  }
  if (alias !== undefined) checkPath(alias, "alias");

  const html = async (page: string): Promise<string> =>
    (await readText("./page.html"))
      .replaceAll("__files__", () => escapeHtml(relative(page, path)))
      .replaceAll(
        "__openApiUrl__",
        () => escapeHtml(relative(page, openApiUrl)),
      );
  const pages = alias === undefined ? [path] : [path, alias];
  return [
    ...pages.map((page) => route(page, HTML, () => html(page))),
    ...FILES.map(([name, mediaType, specifier]) =>
      route(`${path}/${name}`, mediaType, () => readText(specifier))
    ),
  ];
}

/**
 * Reads all files now.
 *
 * @throws {Error} if one cannot be read, for instance because `swagger-ui-dist` is not installed.
 */
export async function loadDocs(routes: readonly DocsRoute[]): Promise<void> {
  const request = { headers: new Headers() };
  await Promise.all(routes.map(({ run }) => run({ request })));
}

function route(
  path: string,
  mediaType: string,
  text: () => Promise<string>,
): DocsRoute {
  const content = staticContent(text, {
    "content-type": mediaType,
    // The names have no version: a browser asks each time, and is told 304.
    "cache-control": "no-cache",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
  });
  const run: DocsRoute["run"] = ({ request }) => content(request);
  return { method: "GET", path, isPublic: true, run };
}

async function readText(specifier: string): Promise<string> {
  try {
    return await readFile(new URL(import.meta.resolve(specifier)), "utf8");
  } catch (cause) {
    throw new Error(
      `Cannot read ${specifier}, which the documentation page needs`,
      { cause },
    );
  }
}

/** A reference to the path `to` for a page at the path `from` (RFC 3986 §4.2). */
function relative(from: string, to: string): string {
  return "../".repeat(from.split("/").length - 2) + to.slice(1);
}

function checkPath(path: string, option: string): void {
  if (/^\/(?!\/)[^?#\\]*$/.test(path)) return;
  throw new TypeError(
    `Wrong option ${option}: it must be a path that begins with one "/"`,
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
