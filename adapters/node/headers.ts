/**
 * The header of a request on Node, read from `rawHeaders`.
 *
 * Node's own `req.headers` is not used: it drops every `Authorization`, `Host` and `Content-Type` but
 * the first, and a service must see that there are two.
 *
 * @module
 */

/** The values of a field in order, joined by a comma and a space; `null` if there is none. */
export function findField(raw: readonly string[], name: string): string | null {
  let found: string | null = null;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? "";
    if (field.length !== name.length) continue;
    if (field !== name && field.toLowerCase() !== name.toLowerCase()) continue;
    const value = raw[i + 1] ?? "";
    found = found === null ? value : `${found}, ${value}`;
  }
  return found;
}
