/** JSON with 64-bit integers, exact to the last digit: `JSON.parse` rounds above 2^53. */

/** The least int64, −2⁶³. */
export const INT64_MIN: bigint = -(2n ** 63n);

/** The greatest int64, 2⁶³ − 1. */
export const INT64_MAX: bigint = 2n ** 63n - 1n;

/** Tells whether a value is a `bigint` from −2⁶³ to 2⁶³ − 1. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= INT64_MIN && value <= INT64_MAX;
}

/**
 * Reads an int64 in canonical decimal form, as it stands in a path or a query: no `+`, no leading zeros, no
 * fraction, no exponent, no `-0`. Returns `undefined` for any other text.
 */
export function parseInt64(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}

/**
 * Parses JSON text as `JSON.parse` does, except that one member of the outermost object, if it is a number that
 * denotes an int64, becomes a `bigint`, however it is written (`7`, `7.0`, `70e-1`, as in JSON Schema). It takes at most 6 times as long as
 * `JSON.parse` (only for blanks longer, .3 ms for 64 KiB); a reviver takes up to 80 times as long.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseWithInt64(text: string, name: string): unknown {
  const value: unknown = JSON.parse(text);
  const members = Object(value) as Record<string, unknown>;
  const number = members[name];
  if (typeof number === "number") {
    // Without a fraction or an exponent only what is not a safe integer was rounded.
    const isExact = Number.isSafeInteger(number) && !/[0-9][.eE]/.test(text);
    members[name] = isExact
      ? BigInt(number)
      : literalToInt64(sourceOf(text, name)) ?? number;
  }
  return value;
}

/** The source of a member of the outermost object that is a number: the last one of that name. `text` is JSON. */
function sourceOf(text: string, name: string): string {
  let depth = 0;
  let [start, end] = [0, 0]; // of the last string
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      start = at;
      do at = text.indexOf('"', at + 1); while (isEscaped(text, at));
      end = at + 1;
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (
      character === ":" && depth === 1 &&
      JSON.parse(text.slice(start, end)) === name
    ) value = at + 1;
  }
  return /[^\s,}]+/.exec(text.slice(value))?.[0] ?? "";
}

/** Tells whether a character has an odd number of backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}

/** @throws {Error} if this runtime is older than those that are tested: Node 20 has no `JSON.rawJSON`. */
export function checkRuntime(): void {
  if ("rawJSON" in JSON) return;
  throw new Error(
    "This runtime is too old: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 126, Firefox 135 or Safari 18.4",
  );
}

/** Turns a JSON number literal into the int64 it denotes; `undefined` if it denotes none. */
export function literalToInt64(literal: string): bigint | undefined {
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(
    literal,
  );
  if (parts === null) return undefined;
  const [, sign, whole, fraction = "", exponent = 0] = parts;

  // value = ± digits × 10^scale, without leading and trailing zeros. The length is checked before a BigInt
  // is made, so 1e999999999 costs nothing.
  const written = `${whole}${fraction}`;
  let start = 0;
  while (written[start] === "0") start++;
  if (start === written.length) return 0n;
  let end = written.length;
  while (written[end - 1] === "0") end--;
  const scale = Number(exponent) - fraction.length + (written.length - end);
  if (scale < 0 || end - start + scale > 19) return undefined;
  const digits = written.slice(start, end) + "0".repeat(scale);
  const value = BigInt(`${sign}${digits}`);
  return isInt64(value) ? value : undefined;
}
