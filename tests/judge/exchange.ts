/** How the judge and the exam print requests and answers: without the key, and without the rest. */

/** The header fields of an answer that a clause may check. */
export const SHOWN: RegExp =
  /^(?:accept-encoding|access-control-.*|allow|cache-control|connection|content-type|deprecation|idempotent-replayed|link|location|retry-after|sunset|vary|www-authenticate|x-content-type-options)$/;

/** Puts a mark before each line, and cuts long lines and long texts. */
export function quote(text: string, mark: string): string {
  const lines = text.trimEnd().split("\n");
  if (lines.length > 12) {
    lines.splice(8, Infinity, `… (${lines.length} lines)`);
  }
  return lines.map((line) => {
    const cut = `${line.slice(0, 100)}… (${line.length} characters)`;
    return `${mark} ${line.length > 300 ? cut : line}`.trimEnd();
  }).join("\n");
}

/**
 * Removes the key, also if encoded or shortened by a character, and characters that could control a
 * terminal.
 */
export function hideKey(text: string, key: string): string {
  const user = [btoa(`${key}:`), btoa(`:${key}`)];
  for (const form of [key, encodeURIComponent(key), ...user]) {
    // A short one may be part of a word by chance.
    const isShort = form.length < 4;
    const parts = isShort ? [form] : [form, form.slice(0, -1)];
    for (const [i, part] of parts.entries()) {
      const letters = part.replaceAll(/\W/g, "\\$&");
      const pattern = isShort
        ? `(?<![^\\s"',=])${letters}(?![^\\s"',=])`
        : letters;
      text = text.replaceAll(RegExp(pattern, "gi"), i === 0 ? "KEY" : "KEY-1");
    }
  }
  return text.replaceAll(/[^\P{Cc}\n]/gu, encodeURIComponent);
}
