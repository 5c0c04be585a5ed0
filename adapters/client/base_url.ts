/**
 * Where the service is, and where the key may go.
 *
 * @module
 */

/** The base address of the service, taken apart. */
export interface BaseUrl {
  /** All of it, without a `/` at its end. */
  readonly base: string;
  /** The only origin that the key is sent to. */
  readonly origin: string;
}

/**
 * Reads the option `baseUrl`.
 *
 * @throws {TypeError} where it is no absolute http(s) URL, or has a user, a query or a fragment.
 */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const url = typeof baseUrl === "string" ? URL.parse(baseUrl) : null;
  if (
    url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(baseUrl) ||
    !isOn(url, url.origin)
  ) {
    // It is not shown: someone may have put a password, or the key, in it.
    throw new TypeError(
      'Wrong option baseUrl: it must be an absolute http or https URL without user, query and fragment, such as "https://api.example.com/v1"',
    );
  }
  return { base: url.href.replace(/\/$/, ""), origin: url.origin };
}

/** Tells whether the key may be sent to a URL; no request can be made to one with a user in it. */
export function isOn(url: URL, origin: string): boolean {
  return url.origin === origin && url.username === "" && url.password === "";
}
