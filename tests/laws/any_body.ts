/**
 * Generates JSON of pets, or nearly so, with members right, wrong or missing, spelled in any way;
 * and reads it exactly.
 */

import { anyText, codeUnit, fc, joined } from "../support/property.ts";

/** A JSON number (RFC 8259 §6): ± whole.fraction × 10^exponent. Empty parts are omitted. */
export interface NumberLiteral {
  readonly sign: "" | "-";
  readonly whole: string;
  readonly fraction: string;
  readonly exponent: string;
  readonly e: "e" | "E";
}

/** A JSON value as written in a text: numbers are literals, and members may be repeated. */
export type Json =
  | "null"
  | "true"
  | "false"
  | { readonly literal: NumberLiteral }
  | { readonly text: string }
  | { readonly items: readonly Json[] }
  | { readonly members: readonly (readonly [name: string, value: Json])[] };

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength });
const e = fc.constantFrom<("e" | "E")[]>("e", "E");

const anyLiteral: fc.Arbitrary<NumberLiteral> = fc.record({
  sign: fc.constantFrom("", "-"),
  whole: fc.oneof(
    fc.constant("0"),
    joined(fc.constantFrom(..."123456789"), digits(25)),
  ),
  fraction: fc.oneof(
    fc.constant(""),
    digits(10),
    digits(3).map((digits) => digits + "000"),
  ),
  exponent: fc.oneof(
    fc.constant(""),
    joined(
      fc.constantFrom("", "+", "-"),
      fc.constantFrom("", "000"),
      fc.oneof(
        fc.integer({ min: 0, max: 25 }).map(String),
        fc.constantFrom("308", "309", "400", "999999999", "9".repeat(50)),
      ),
    ),
  ),
  e,
});

/** Any int64. */
export const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n),
);

/** Other spellings of an integer: the point is moved, and the exponent compensates. */
const integerLiteral: fc.Arbitrary<NumberLiteral> = fc.tuple(
  fc.oneof(
    int64,
    fc.bigInt({ min: 2n ** 63n - 3n, max: 2n ** 63n + 3n }),
    fc.bigInt({ min: -(2n ** 63n) - 3n, max: -(2n ** 63n) + 3n }),
  ),
  fc.oneof(fc.constant(0), fc.nat(20)),
  fc.oneof(fc.constant(0), fc.nat(20)),
  e,
  fc.constantFrom("", "+"),
).map(([value, left, zeros, e, plus]) => {
  const padded = `${value}`.replace("-", "").padStart(left + 1, "0");
  return {
    sign: value < 0n ? "-" : "",
    whole: padded.slice(0, padded.length - left),
    fraction: padded.slice(padded.length - left) + "0".repeat(zeros),
    exponent: left === 0 ? "" : plus + left,
    e,
  };
});

/** Any JSON number, among them many that are int64 in unusual spellings. */
const number = fc.oneof(anyLiteral, integerLiteral)
  .map((literal): Json => ({ literal }));

const unit = fc.oneof(codeUnit(0, 0xffff), codeUnit(0xd7ff, 0xe000));
const text: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }), weight: 4 },
  anyText({ minLength: 250, maxLength: 260 }),
  fc.tuple(
    fc.constantFrom("x", "é", "🐕", " "),
    fc.integer({ min: 253, max: 257 }),
  ).map(([unit, count]) => unit.repeat(count)),
  fc.string({ unit }),
  fc.constantFrom("", " ", "\u0000", "\u001f", "\u007f", "\u0080", "\ufeff"),
  fc.constantFrom("available", "pending", "sold", "Sold", "toString"),
  fc.constantFrom("\\", '\\"', "}", '"categoryId":1'),
);
const string = text.map((text): Json => ({ text }));
/**
 * V8 may read a name of one character that is escaped as `\\` (nodejs/node#63785). Can go once that
 * is closed.
 */
const otherName = text.filter((name) => name.length !== 1);

const { value: anyJson } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Json[]>("null", "true", "false"),
    number,
    string,
    fc.array(tie("value"), { maxLength: 3 }).map((items) => ({ items })),
    fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom("name", "categoryId", "status"), otherName),
        tie("value"),
      ),
      { maxLength: 4 },
    ).map((members) => ({ members })),
  ),
}));

/** A member that is mostly right, sometimes wrong and, once in `freq` times, missing. */
function member(
  name: string,
  right: fc.Arbitrary<Json>,
  freq = 9,
): fc.Arbitrary<readonly (readonly [name: string, value: Json])[]> {
  const value = fc.oneof({ arbitrary: right, weight: 9 }, anyJson);
  const one = value.map((value) => [[name, value] as const]);
  return fc.option(one, { nil: [], freq });
}

/** Bodies that are pets, or nearly so, with other members in between. */
const nearlyPet: fc.Arbitrary<Json> = fc.tuple(
  member("name", string),
  member("categoryId", number),
  member(
    "status",
    fc.constantFrom("available", "pending", "sold").map((text) => ({ text })),
    2,
  ),
  fc.array(
    fc.tuple(
      fc.oneof(
        otherName,
        fc.constantFrom("id", "__proto__", "constructor", "name", "Name"),
      ),
      anyJson,
    ),
    { maxLength: 2 },
  ),
  fc.nat(),
).map(([name, categoryId, status, others, turn]) => {
  const members = [...others, ...name, ...categoryId, ...status];
  const at = turn % (members.length + 1);
  return { members: [...members.slice(at), ...members.slice(0, at)] };
});

/** Numbers that decide how a text is spelled, used in a cycle. */
export const whims = fc.array(fc.nat(7), { minLength: 1, maxLength: 20 });

/** Writes a number as JSON text. */
export function spell(
  { sign, whole, fraction, exponent, e }: NumberLiteral,
): string {
  return sign + whole + (fraction && `.${fraction}`) + (exponent && e) +
    exponent;
}

/** Writes a value as JSON text. The whims decide on escapes and whitespace. */
export function write(body: Json, whims: readonly number[]): string {
  let turn = 0;
  const whim = (): number => whims[turn++ % whims.length] ?? 0;
  const space = (): string => " \t\n\r"[whim()] ?? "";

  function quoted(value: string): string {
    const units = Array.from({ length: value.length }, (_, i) => {
      const unit = value.charAt(i);
      const hex = value.charCodeAt(i).toString(16).padStart(4, "0");
      const isBare = unit >= " " && !/["\\\p{Cs}]/u.test(unit);
      if (isBare && whim() < 6) return unit;
      if (/["/\\]/.test(unit) && whim() < 6) return `\\${unit}`;
      return unit === "\n" ? "\\n" : `\\u${whim() < 4 ? hex : upper(hex)}`;
    });
    return `"${units.join("")}"`;
  }

  function any(value: Json): string {
    if (typeof value === "string") return space() + value + space();
    const inner = "literal" in value
      ? spell(value.literal)
      : "text" in value
      ? quoted(value.text)
      : "items" in value
      ? `[${space()}${value.items.map(any)}]`
      : `{${space()}${
        value.members.map(([name, each]) =>
          `${space()}${quoted(name)}${space()}:${any(each)}`
        )
      }}`;
    return space() + inner + space();
  }

  return any(body);
}

function upper(text: string): string {
  return text.toUpperCase();
}

/** Any JSON, mostly pets, or nearly so. */
export const anyBody: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: nearlyPet, weight: 4 },
  anyJson,
);

/**
 * Parses JSON text. A number that denotes an int64 becomes a `bigint`, however it is written; any other stays a
 * `number`.
 */
export function parseJson(text: string): unknown {
  // TypeScript has no type for the third argument yet. The source of a text is in quotes, and so no number's.
  const revive = (
    _key: string,
    value: unknown,
    context?: { readonly source?: string },
  ) =>
    typeof value === "number" ? denotedInt64(context?.source) ?? value : value;
  return JSON.parse(text, revive);
}

/**
 * The int64 that a number literal denotes, by arithmetic with whole numbers; `undefined` if it
 * denotes none.
 */
export function denotedInt64(literal = ""): bigint | undefined {
  const [significand = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = significand.split(".");
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  const scale = Number(exponent) - fraction.length;
  if (Math.abs(scale) > 400) return undefined; // longer than any literal here
  const power = 10n ** BigInt(Math.abs(scale));
  if (scale < 0 && digits % power !== 0n) return undefined;
  const value = scale < 0 ? digits / power : digits * power;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
