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
 * Reads an int64 in canonical decimal form, as in a path or a query: no `+`, no leading zeros, no
 * fraction, no exponent, no `-0`. Returns `undefined` for any other string.
 */
export function parseInt64(text: string): bigint | undefined {
  return /^(?:0|-?[1-9][0-9]{0,18})$/.test(text) ? toInt64(text) : undefined;
}

/**
 * Parses JSON text as `JSON.parse` does, but makes a `bigint` of members with these names if they
 * are numbers that denote an int64, however they are written (`7`, `7.0`, `70e-1`, as in JSON
 * Schema).
 *
 * This applies to the outermost object, or to the objects in the outermost array. The time is
 * linear in the length of the text; a reviver would be much slower.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseWithInt64(
  text: string,
  ...names: readonly string[]
): unknown {
  const value: unknown = JSON.parse(text);
  // If the text has no fraction and no exponent, only unsafe integers can have been rounded.
  const hasFractions = /[0-9][.eE]/.test(text);
  let literals: Literals | undefined;
  let object = 0;
  for (const item of Array.isArray(value) ? value : [value]) {
    const members = Object(item) as Record<string, unknown>;
    const i = object++;
    for (const name of names) {
      const number = members[name];
      if (typeof number !== "number") continue;
      if (Number.isSafeInteger(number) && !hasFractions) {
        members[name] = BigInt(number);
        continue;
      }
      literals ??= findLiterals(text, names);
      members[name] = literalToInt64(literals.get(name)?.[i] ?? "") ?? number;
    }
  }
  return value;
}

/**
 * For each name, the number literals of that member, one for each object. Of repeated members the
 * last counts.
 */
type Literals = ReadonlyMap<string, string[]>;

/** Finds the number literals that {@linkcode parseWithInt64} may need. `text` is JSON. */
function findLiterals(text: string, names: readonly string[]): Literals {
  const literals = new Map(names.map((name) => [name, Array<string>()]));
  const isArray = /^\s*\[/.test(text);
  const depthOfMembers = isArray ? 2 : 1;
  let depth = 0;
  let object = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const start = at;
      do at = text.indexOf('"', at + 1); while (isEscaped(text, at));
      if (depth !== depthOfMembers) continue;
      const colon = skipBlanks(text, at + 1);
      if (text[colon] !== ":") continue;
      const found = literals.get(stringOf(text.slice(start, at + 1)));
      if (found !== undefined) found[object] = literalAt(text, colon + 1);
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (character === "," && isArray && depth === 1) object++;
  }
  return literals;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\n" || character === "\r" ||
    character === "\t";
}

/** Returns the index of the first character that is not blank. */
function skipBlanks(text: string, at: number): number {
  while (isBlank(text[at])) at++;
  return at;
}

/**
 * Returns the literal of a number. For any other value, returns something that is no literal of a
 * number.
 */
function literalAt(text: string, at: number): string {
  const start = skipBlanks(text, at);
  let end = start;
  while (text[end] !== "," && text[end] !== "}" && !isBlank(text[end])) end++;
  return text.slice(start, end);
}

/** Returns the value of a string literal. */
function stringOf(literal: string): string {
  return literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1);
}

/** Tells whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}

/** @throws {Error} if this runtime lacks `URL.parse`, which this package needs, as Node 20 does. */
export function checkRuntime(): void {
  if ("parse" in URL) return;
  throw new Error(
    "This runtime is too old: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 126, Firefox 126 or Safari 18",
  );
}

/** Returns the int64 that a JSON number literal denotes; `undefined` if it denotes none. */
export function literalToInt64(literal: string): bigint | undefined {
  if (/^-?[0-9]{1,19}$/.test(literal)) return toInt64(literal); // the usual case
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(
    literal,
  );
  if (parts === null) return undefined;
  const [, sign, whole, fraction = "", exponent = 0] = parts;

  // value = ± digits × 10^scale, without leading and trailing zeros. The length is checked before a
  // BigInt is made, so 1e999999999 costs nothing.
  const written = `${whole}${fraction}`;
  let start = 0;
  while (written[start] === "0") start++;
  if (start === written.length) return 0n;
  let end = written.length;
  while (written[end - 1] === "0") end--;
  const scale = Number(exponent) - fraction.length + (written.length - end);
  if (scale < 0 || end - start + scale > 19) return undefined;
  return toInt64(`${sign}${written.slice(start, end)}${"0".repeat(scale)}`);
}

function toInt64(digits: string): bigint | undefined {
  const value = BigInt(digits);
  return isInt64(value) ? value : undefined;
}
