/** Where the service is mounted, and its links. */

/** The base address, taken apart. */
export interface BaseUrl {
  /** The path of the base address: empty, or begins with `/` and does not end in one. */
  readonly path: string;
  /** The address for tools that put it before a path such as `/pets`; they remove a lone `/` themselves. */
  readonly url: string;
  /** The address of a path below the base: absolute, or `relative` as it is. */
  link(path: string, relative: string): string;
}

/**
 * Reads the option `baseUrl`. Links are absolute under an absolute URL. Under a path they are
 * relative references (RFC 3986 §4.2), which are right behind any proxy and mount. They are never made
 * from the `Host` header, so a forged one misleads nobody.
 *
 * @throws {TypeError} if it is neither a path nor an absolute http(s) URL in normal form.
 */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const path = parsePath(baseUrl);
  if (baseUrl.startsWith("/")) {
    return { path, url: path || "/", link: (_path, relative) => relative };
  }
  const url = new URL(baseUrl).origin + path;
  return { path, url, link: (below) => url + below };
}

function parsePath(baseUrl: string): string {
  const isPath = baseUrl.startsWith("/");
  const url = URL.parse(baseUrl, isPath ? "http://localhost" : undefined);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw wrong(
      baseUrl,
      'it must be a path such as "/v1" or an absolute http or https URL',
    );
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(baseUrl)) {
    throw wrong(baseUrl, "it must have no user, no query and no fragment");
  }
  const path = url.pathname === "/" ? "" : url.pathname;
  if (isPath ? baseUrl !== url.pathname : !baseUrl.endsWith(path)) {
    throw wrong(
      baseUrl,
      `its path must be written in normal form, ${
        JSON.stringify(url.pathname)
      }`,
    );
  }
  if (path.endsWith("/") || path.includes("//")) {
    throw wrong(baseUrl, 'its path must not end in "/" nor contain "//"');
  }
  return path;
}

function wrong(baseUrl: string, reason: string): TypeError {
  return new TypeError(`Wrong baseUrl ${JSON.stringify(baseUrl)}: ${reason}`);
}
