/** The page and its files as plain data. */

import { readFile } from "node:fs/promises";
import { Refusal } from "../../core/http/refusal.ts";
import type { Reply } from "../../core/http/reply.ts";
import { type StaticReply, staticReply } from "../../core/http/static_reply.ts";

/** Settings of `docs`. */
export interface DocsOptions {
  /** The path of the OpenAPI document, on the same server. Default: `/v1/openapi.json`. */
  readonly openApiUrl?: string;
  /** Where the page is; its files are below. Default: `/docs`. */
  readonly path?: string;
  /** Another path that shows the same page, such as `/`. Default: none. */
  readonly alias?: string;
}

/** Does what `Docs` does, with plain data. */
export type DocsReplies = (
  request: Pick<Request, "method"> & Parameters<StaticReply>[0],
  path: string,
) => Promise<Reply | undefined>;

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

const methodNotAllowed = new Refusal(
  "method_not_allowed",
  "Cannot use this method on the documentation: it has GET, HEAD",
  { allow: "GET, HEAD" },
);

/** Reads the files, and makes the function that replies with them. */
export async function docsReplies(options: DocsOptions): Promise<DocsReplies> {
  const { openApiUrl = "/v1/openapi.json", path = "/docs", alias } = options;
  checkPath(openApiUrl, "openApiUrl");
  checkPath(path, "path");
  if (path.endsWith("/")) {
    throw new TypeError('Wrong option path: it must not end in "/"');
  }
  if (alias !== undefined) checkPath(alias, "alias");

  const template = await readText("./page.html");
  const replies = new Map<string, StaticReply>();
  for (const page of alias === undefined ? [path] : [path, alias]) {
    const html = template
      .replaceAll("__files__", escapeHtml(relative(page, path)))
      .replaceAll("__openApiUrl__", escapeHtml(relative(page, openApiUrl)));
    replies.set(page, file(html, HTML));
  }
  for (const [name, mediaType, specifier] of FILES) {
    replies.set(`${path}/${name}`, file(await readText(specifier), mediaType));
  }

  return async (request, path) => {
    const reply = replies.get(path);
    if (reply === undefined) return undefined;
    return request.method === "GET" || request.method === "HEAD"
      ? await reply(request)
      : methodNotAllowed;
  };
}

function file(text: string, mediaType: string): StaticReply {
  return staticReply(() => text, {
    "content-type": mediaType,
    // The names have no version: a browser asks each time, and is told 304.
    "cache-control": "no-cache",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
  });
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
