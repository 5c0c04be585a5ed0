/** JSON with 64-bit integers, exact to the last digit: `JSON.parse` rounds above 2^53. */

/** The smallest int64, −2⁶³. */
export const INT64_MIN: bigint = -(2n ** 63n);

/** The largest int64, 2⁶³ − 1. */
export const INT64_MAX: bigint = 2n ** 63n - 1n;

/** Tells whether a value is a `bigint` from −2⁶³ to 2⁶³ − 1. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= INT64_MIN && value <= INT64_MAX;
}

/**
 * Reads an int64 in canonical decimal form, as in a path or a query: no `+`, no leading zeros, no
 * fraction, no exponent, no `-0`. Returns `undefined` for any other string.
 */
export function parseInt64(text: string): bigint | undefined {
  return /^(?:0|-?[1-9][0-9]{0,18})$/.test(text) ? toInt64(text) : undefined;
}

/**
 * Parses JSON text as `JSON.parse` does, but turns members with these names into a `bigint` if they
 * denote an int64, however it is written (`7`, `7.0`, `70e-1`, as in JSON Schema).
 *
 * This applies to the outermost object, or to the objects in the outermost array. It takes time
 * linear in the length of the text; a reviver would be much slower.
 *
 * @returns the value; `undefined` if the text is not JSON.
 */
export function parseWithInt64(
  text: string,
  ...names: readonly string[]
): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // without the parser's message, which would quote the text
  }
  // If the text has no fraction and no exponent, only unsafe integers can have been rounded.
  const hasIntegersOnly = !/[0-9][.eE]/.test(text);
  /** The same objects, in which a number that may have been rounded is a string of its digits. */
  let sources: readonly Members[] | undefined;
  outermostObjects(value).forEach((members, i) => {
    for (const name of names) {
      const number = members[name];
      if (typeof number !== "number") continue;
      if (!hasIntegersOnly || !Number.isSafeInteger(number)) {
        sources ??= outermostObjects(JSON.parse(quoteNumbers(text)));
      }
      const source = sources?.[i]?.[name];
      members[name] = typeof source === "string"
        ? literalToInt64(source) ?? number
        : BigInt(number);
    }
  });
  return value;
}

type Members = Record<string, unknown>;

function outermostObjects(value: unknown): readonly Members[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item) =>
    typeof item === "object" && item !== null
  ) as Members[];
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Tells whether a character can be part of a fraction or an exponent. */
function isBehindInteger(code: number): boolean {
  return isDigit(code) || code === POINT || code === PLUS || code === MINUS ||
    code === 0x45 || code === 0x65; // E, e
}

/**
 * Quotes the numbers in JSON text that `JSON.parse` may round: those with a fraction, an exponent,
 * or more than 15 characters.
 */
function quoteNumbers(text: string): string {
  let quoted = "";
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      const start = at;
      while (isDigit(text.charCodeAt(at + 1))) at++;
      const isInteger = !isBehindInteger(text.charCodeAt(at + 1));
      while (isBehindInteger(text.charCodeAt(at + 1))) at++;
      if (isInteger && at - start < 15) continue;
      quoted += `${text.slice(done, start)}"${text.slice(start, at + 1)}"`;
      done = at + 1;
    }
  }
  return quoted + text.slice(done);
}

/** Finds the closing quote of the string whose opening quote is at `start`. */
function endOfString(text: string, start: number): number {
  let quote = start;
  do quote = text.indexOf('"', quote + 1); while (isEscaped(text, quote));
  return quote;
}

/** Tells whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}

/** Returns the int64 that a JSON number literal denotes; `undefined` if it denotes none. */
function literalToInt64(literal: string): bigint | undefined {
  if (/^-?[0-9]{1,19}$/.test(literal)) return toInt64(literal); // the usual case
  const [mantissa = "", exponent = 0] = literal.split(/e/i);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const sign = whole.startsWith("-") ? "-" : "";
  const digits = `${whole}${fraction}`.replace(/^-?0*/, "");
  if (digits === "") return 0n;
  // How many digits precede the point once the exponent is applied. Checked before a BigInt is
  // made, so 1e999999999 costs nothing.
  const length = digits.length - fraction.length + Number(exponent);
  if (length < 1 || length > 19) return undefined;
  if (/[1-9]/.test(digits.slice(length))) return undefined;
  return toInt64(`${sign}${digits.slice(0, length).padEnd(length, "0")}`);
}

function toInt64(digits: string): bigint | undefined {
  const value = BigInt(digits);
  return isInt64(value) ? value : undefined;
}
