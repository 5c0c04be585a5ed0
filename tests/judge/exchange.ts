/** How the judge and the exam print requests and answers: without the key, and without the rest. */

import type { Answer } from "../contract/ask.ts";

/** The header fields of an answer that a clause may check. */
export const SHOWN: RegExp =
  /^(?:accept-encoding|access-control-.*|allow|cache-control|connection|content-type|deprecation|idempotent-replayed|link|location|retry-after|sunset|vary|www-authenticate|x-content-type-options)$/;

/** Tells whether a message is a request, and not an answer. */
export function isSent(
  message: string | Answer | undefined,
): message is string {
  return typeof message === "string";
}

/** Tells whether a clause wrote a request byte by byte, on a connection of its own. */
export function isBytes(sent: string): boolean {
  return !/^\S+ https?:\/\//.test(sent);
}

/** Quotes requests and answers. The key is hidden before anything is cut. */
export function show(
  messages: readonly (string | Answer)[],
  key: string,
): string {
  const shown = messages.map((message) => {
    if (isSent(message)) return quote(hideKey(withBytes(message), key), ">");
    const { status, headers, text } = message;
    const lines = [...headers].filter(([name]) => SHOWN.test(name))
      .map(([name, value]) => `${name}: ${value}\n`);
    const told = text.replaceAll("\r\n", "\n");
    return quote(hideKey(`${status}\n${lines.join("")}\n${told}`, key), "<");
  });
  if (isSent(messages.at(-1))) shown.push("< nothing");
  return shown.join("\n");
}

/**
 * In a request that was written byte by byte, marks the ends of lines other than CRLF, and bytes
 * beyond ASCII.
 */
function withBytes(text: string): string {
  if (!isBytes(text)) return text;
  return text.replaceAll(/(?<!\r)\n/g, "\\n\n").replaceAll("\r\n", "\n")
    .replaceAll(/[\x80-\xff]/g, (byte) => `\\x${hex(byte)}`);
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(2, "0");
}

/** Puts a mark before each line, and leaves out the middle of long lines and long texts. */
export function quote(text: string, mark: string): string {
  const lines = text.trimEnd().split("\n");
  if (lines.length > 12) {
    lines.splice(8, lines.length - 11, `… (${lines.length} lines)`);
  }
  return lines.map((line) => {
    const cut = `${line.slice(0, 150)}… (${line.length} characters) …${
      line.slice(-100)
    }`;
    return `${mark} ${line.length > 400 ? cut : line}`.trimEnd();
  }).join("\n");
}

/**
 * Removes the key, also if encoded or shortened by a character. Shows as `\x1b` or `\u{301}` what a
 * reader would not see or take for something else: controls, which could act on a terminal, spaces
 * other than U+0020, combining characters, and those that normalisation changes.
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
  return text.replaceAll(/[^\n -~…]/gu, (character) => {
    const isPlain = !/[\p{C}\p{M}\p{Z}]/u.test(character) &&
      character.normalize("NFKC") === character;
    if (isPlain) return character;
    const code = hex(character);
    return code.length === 2 ? `\\x${code}` : `\\u{${code}}`;
  });
}
