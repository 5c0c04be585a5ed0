/**
 * Makes the URL of a request from its target (RFC 9112 §3.2) and `Host`, which nobody has checked
 * before.
 */

/** Replaces a `Host` that is missing or malformed. */
export const STAND_IN_HOST = "localhost";

/**
 * Returns the URL of a request, with its path as it was sent: `/v1/../v1/pets` is not `/v1/pets`.
 *
 * @param target in origin form (`/v1/pets?limit=5`), absolute form (`http://example.com/v1/pets`),
 * whose host takes precedence (RFC 9112 §3.2.2), or asterisk form (`*`, which becomes the path
 * `/*`).
 * @param authority the `Host` field, or {@linkcode STAND_IN_HOST}.
 * @returns the URL; `undefined` if the target has none of these forms.
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
  // Without credentials, because `Request` refuses a URL that has any (Fetch §5.4).
  return new URL(target).origin + (path.startsWith("/") ? path : `/${path}`);
}
