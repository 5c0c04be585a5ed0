/**
 * From a request target (RFC 9112 §3.2) and a `Host` to the URL of a request. Neither is trusted:
 * the URL always parses, and its path is the target's, whatever the `Host` says.
 *
 * @module
 */

/** Takes the place of a `Host` that is absent or is no host. */
export const STAND_IN_HOST = "localhost";

// What these two match, a URL parser would leave as it is; it costs 1 µs, they cost 0.2 µs. No host
// that ends in a number but the plainest IPv4, no xn--, no default port, no dot segments.
const SERIALIZED_HOST =
  /^(?:(?!.*xn--)(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*|(?:[1-9]?\d|1\d\d)(?:\.(?:[1-9]?\d|1\d\d)){3})(?::[1-9]\d{3})?$/;
const SERIALIZED_TARGET = /^(?!.*\/(?:\.|%2e))\/[\w!$&()*+,./:;=?@~%-]*$/i;

const PLAIN_HOST = /^(?:\[[\da-fA-F:.]+\]|[\w.~!$&'()*+,;=-]+)(?::\d{1,5})?$/;

/** Whether a `Host` field is `host` or `host:port` and no more, so that a URL can be built of it. */
export function isPlainHost(host: string): boolean {
  return SERIALIZED_HOST.test(host) ||
    PLAIN_HOST.test(host) && URL.canParse(`http://${host}`);
}

/**
 * The URL of a request, as `Request.url` would have it.
 *
 * @param target as it stands in the request line, in origin form (`/v1/pets?limit=5`), absolute form
 * (`http://example.com/v1/pets`) or asterisk form (`*`, which becomes the path `/*`).
 * @param host the `Host` field; `localhost` takes its place where a URL cannot be built of it, and
 * the target's own host goes before it (RFC 9112 §3.2.2).
 * @returns `undefined` where the target has none of these forms.
 */
export function requestUrl(
  scheme: "http" | "https",
  host: string | null,
  target: string,
): string | undefined {
  if (
    host !== null && SERIALIZED_HOST.test(host) &&
    SERIALIZED_TARGET.test(target)
  ) {
    return `${scheme}://${host}${target}`;
  }
  const path = target === "*" ? "/*" : target;
  if (!path.startsWith("/")) return absoluteUrl(target);
  const authority = host !== null && isPlainHost(host) ? host : STAND_IN_HOST;
  return new URL(`${scheme}://${authority}${path}`).href;
}

function absoluteUrl(target: string): string | undefined {
  if (!/^https?:\/\//i.test(target)) return undefined;
  const url = URL.parse(target);
  if (url === null) return undefined;
  // A Request refuses a URL with credentials in it (Fetch §5.4).
  url.username = "";
  url.password = "";
  return url.href;
}
