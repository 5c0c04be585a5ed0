/**
 * From a request target (RFC 9112 §3.2) and a `Host`, neither trusted, to a URL that always parses.
 */

import { isHost } from "../../core/http/target.ts";

/** Takes the place of a `Host` that is absent or is no host. */
export const STAND_IN_HOST = "localhost";

/** Tells whether a URL can be built of a `Host` field. */
export function isUrlHost(host: string): boolean {
  return isHost(host) && URL.canParse(`http://${host}`);
}

/**
 * The URL of a request, with its path as it was sent: `/v1/../v1/pets` is another path than
 * `/v1/pets`.
 *
 * @param target in origin form (`/v1/pets?limit=5`), absolute form (`http://example.com/v1/pets`),
 * whose host takes precedence (RFC 9112 §3.2.2), or asterisk form (`*`, which becomes the path
 * `/*`).
 * @param authority the `Host` field, or {@linkcode STAND_IN_HOST}.
 * @returns `undefined` if the target has none of these forms.
 */
export function requestUrl(
  scheme: "http" | "https",
  authority: string,
  target: string,
): string | undefined {
  const path = target === "*" ? "/*" : target;
  if (!path.startsWith("/")) return absoluteUrl(target);
  return `${scheme}://${authority}${path}`;
}

function absoluteUrl(target: string): string | undefined {
  const [, path] = /^https?:\/\/[^/?#\\]*(.*)$/is.exec(target) ?? [];
  if (path === undefined || !URL.canParse(target)) return undefined;
  // Without credentials: a Request refuses a URL that has any (Fetch §5.4).
  return new URL(target).origin + (path.startsWith("/") ? path : `/${path}`);
}
