/**
 * Returns the values of a field in order, joined by a comma and a space; `null` if it is absent.
 * `raw` has names and values in turn. Node's `req.headers` drops a second `Authorization` or `Host`
 * (its document HTTP, `message.headers`), which a service must see.
 */
export function findField(raw: readonly string[], name: string): string | null {
  let found: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const field = raw[i];
    if (field?.length !== name.length) continue;
    if (field.toLowerCase() !== name.toLowerCase()) continue;
    const value = String(raw[i + 1]);
    found = found === null ? value : `${found}, ${value}`;
  }
  return found;
}
