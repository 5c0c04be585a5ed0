/** The page and its files as endpoints. */

import { readFile } from "node:fs/promises";
import { checkNames, type Endpoint, type Fields } from "../../core/kit.ts";
import {
  type Bytes,
  type StaticContent,
  staticContent,
} from "../http/static_content.ts";
import { inPieces, inTurns } from "./in_pieces.ts";

/** Settings of `docs`. */
export interface DocsOptions {
  /** The path of the OpenAPI document, on the same server. Default: `/v1/openapi.json`. */
  readonly openApiUrl?: string;
  /** The path of the page; its files are below it. Default: `/docs`. */
  readonly path?: string;
  /** Another path that shows the same page, such as `/`. Default: none. */
  readonly alias?: string;
  /**
   * If true, an accepted API key survives a reload, in the tab's `sessionStorage`. All scripts of
   * the same origin can read it there, so set this only if you trust them all. Default: `false`.
   */
  readonly rememberKey?: boolean;
}

/**
 * The page has no inline script or style, evaluates no text, and talks only to its own server, so a
 * key goes nowhere else. The icons of the style sheet are `data:` URLs.
 */
const HEADERS: Fields = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** The package that the docs page is made for, pinned because the page replaces parts of it. */
export const SWAGGER_UI = "swagger-ui-dist@5.35.0";

/** The files that the page loads: name, media type, and module specifier. */
const FILES: readonly (readonly [string, string, string])[] = [
  ["swagger-ui.css", CSS, "swagger-ui-dist/swagger-ui.css"],
  ["swagger-ui.js", JAVASCRIPT, "swagger-ui-dist/swagger-ui-bundle.js"],
  ["page.css", CSS, "./page.css"],
  ["page.js", JAVASCRIPT, "./page.js"],
  ["components.js", JAVASCRIPT, "./components.js"],
  ["exact_json.js", JAVASCRIPT, "./exact_json.js"],
];

/** Makes the page, as parts of a server. Throws as `docs` does. */
export function createPage(options: DocsOptions) {
  checkNames(options, ["openApiUrl", "path", "alias", "rememberKey"], "docs");
  const { openApiUrl = "/v1/openapi.json", path = "/docs" } = options;
  const { alias = path, rememberKey } = options;
  checkPaths({ openApiUrl, path, alias });
  if (path.endsWith("/")) {
    throw new TypeError('Wrong option path: it must not end in "/"');
  }

  async function html(page: string): Promise<Bytes> {
    const text = new TextDecoder().decode(await read("./page.html"))
      .replaceAll("__files__", () => escapeHtml(relative(page, path)))
      .replaceAll("__openApi__", () => escapeHtml(relative(page, openApiUrl)))
      .replaceAll("__rememberKey__", `${rememberKey === true}`);
    return new TextEncoder().encode(text);
  }
  /** By path. */
  const contents = new Map<string, StaticContent>();
  function add(path: string, mediaType: string, bytes: () => Promise<Bytes>) {
    const headers = { ...HEADERS, "content-type": mediaType };
    contents.set(path, staticContent(bytes, headers, inTurns));
  }
  for (const page of [path, alias]) add(page, HTML, () => html(page));
  for (const [name, mediaType, specifier] of FILES) {
    add(`${path}/${name}`, mediaType, () => read(specifier));
  }
  return {
    /** The page and its files, which need no key. Each reads its file on the first request. */
    endpoints: Array.from(contents, ([path, show]): Endpoint => ({
      method: "GET",
      path,
      isPublic: true,
      openApiUrl,
      run: async ({ request }) => inPieces(await show(request)),
    })),
    /** Reads all files now. Rejects if one cannot be read. */
    async load(): Promise<void> {
      const request = new Request(`http://localhost${path}`);
      await Promise.all(contents.values().map((show) => show(request)));
    },
  };
}

/** Reads a file. Not as text, which would leave several times its size in memory. */
async function read(specifier: string): Promise<Bytes> {
  try {
    const file = await readFile(new URL(import.meta.resolve(specifier)));
    return file as Bytes; // its memory is not shared
  } catch (cause) {
    const install = specifier.startsWith(".")
      ? ""
      : `run "npm install --ignore-scripts ${SWAGGER_UI}"; `;
    const message = `Cannot read ${specifier}, which the docs page needs`;
    // A bundler leaves out files that are not modules.
    const hint = `${install}in a bundle, make @petstore/service external`;
    throw new Error(`${message}: ${hint}`, { cause });
  }
}

/**
 * Makes a relative reference to the path `to` from a page at the path `from`. It begins with `./`,
 * because `a:b` would be of the scheme `a` (RFC 3986 §4.2).
 */
function relative(from: string, to: string): string {
  return `./${"../".repeat(from.split("/").length - 2)}${to.slice(1)}`;
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
