/** Where the service is mounted, and its links. */

import { normalizePath } from "./target.ts";

/** Where the service is mounted. */
export interface BaseUrl {
  /** The path of the base address: empty, or begins with `/` and does not end in one. */
  readonly path: string;
  /**
   * The address for tools that prepend it to a path such as `/pets`; they remove a lone `/`
   * themselves.
   */
  readonly url: string;
  /**
   * Makes a reference to a path below the base: its address under an absolute base URL, otherwise
   * `relative`, the same reference relative to the address of the request (RFC 3986 §4.2).
   */
  link(path: string, relative: string): string;
}

/** An origin without a user, a path, or both; it is not empty. */
const PARTS = /^(?=.)(https?:\/\/[^/?#@\\]+)?(\/[^?#]*)?$/i;

/**
 * Reads the option `baseUrl`. Under a path, links are relative references (RFC 3986 §4.2), which
 * are right behind any proxy and mount; they are never made from the `Host` header, which may be
 * forged.
 *
 * @throws {TypeError} if it is neither a path nor an absolute http(s) URL in normal form.
 */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const parts = PARTS.exec(baseUrl);
  const url = URL.parse(baseUrl, "http://localhost");
  if (parts === null || url === null) {
    throw wrong(
      'it must be a path such as "/v1", or an http or https URL without user, query and fragment',
    );
  }
  const pathname = normalizePath(url.pathname);
  const [, origin, written = "/"] = parts;
  const path = pathname === "/" ? "" : pathname;
  if (written !== pathname || path.endsWith("/") || path.includes("//")) {
    const normal = path.replace(/\/{2,}/g, "/").replace(/\/$/, "") || "/";
    throw wrong(`its path must be in normal form: "${normal}"`);
  }
  if (origin === undefined) {
    return { path, url: path || "/", link: (_path, relative) => relative };
  }
  const address = url.origin + path;
  return { path, url: address, link: (below) => address + below };
}

/** Does not show the value, because it may contain a password. */
function wrong(reason: string): TypeError {
  return new TypeError(`Wrong option baseUrl: ${reason}`);
}
