/** What a JSON number denotes, by exact arithmetic; it shares nothing with `core/json.ts`. */
import { fc } from "../support/property.ts";

/** A JSON number (RFC 8259 §6), taken apart. */
export interface NumberLiteral {
  readonly sign: "" | "-";
  readonly whole: string;
  /** Without its point; empty where there is none. */
  readonly fraction: string;
  /** With its sign, without its `e`; empty where there is none. */
  readonly exponent: string;
  readonly e: "e" | "E";
}

/** The literal as JSON text. */
export function spell(literal: NumberLiteral): string {
  const { sign, whole, fraction, exponent, e } = literal;
  return sign + whole + (fraction === "" ? "" : `.${fraction}`) +
    (exponent === "" ? "" : e + exponent);
}

/** The int64 that a literal denotes; `undefined` where it is none. */
export function denotedInt64(literal: NumberLiteral): bigint | undefined {
  const { sign, whole, fraction, exponent } = literal;
  let numerator = BigInt(whole + fraction);
  if (numerator === 0n) return 0n;
  const power = BigInt(exponent === "" ? "0" : exponent.replace("+", "")) -
    BigInt(fraction.length);
  // Beyond this, no literal of the lengths generated here is an integer of 64 bits.
  if (power > 1000n || power < -1000n) return undefined;
  let denominator = 1n;
  if (power >= 0n) numerator *= 10n ** power;
  else denominator = 10n ** -power;
  if (numerator % denominator !== 0n) return undefined;
  const magnitude = numerator / denominator;
  const value = sign === "-" ? -magnitude : magnitude;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength });

const anyLiteral: fc.Arbitrary<NumberLiteral> = fc.record({
  sign: fc.constantFrom("", "-"),
  whole: fc.oneof(
    fc.constant("0"),
    fc.tuple(fc.constantFrom(..."123456789"), digits(25)).map((all) =>
      all.join("")
    ),
  ),
  fraction: fc.oneof(
    fc.constant(""),
    digits(10),
    digits(3).map((d) => d + "000"),
  ),
  exponent: fc.oneof(
    fc.constant(""),
    fc.tuple(
      fc.constantFrom("", "+", "-"),
      fc.oneof(
        fc.integer({ min: 0, max: 25 }).map(String),
        fc.integer({ min: 0, max: 25 }).map((n) => `000${n}`),
        fc.constantFrom("308", "309", "400", "999999999", "9".repeat(50)),
      ),
    ).map((all) => all.join("")),
  ),
  e: fc.constantFrom("e", "E"),
});

/** Another spelling of an integer: the point moved, and the exponent to make up for it. */
const integerLiteral: fc.Arbitrary<NumberLiteral> = fc.tuple(
  fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: 2n ** 63n - 3n, max: 2n ** 63n + 3n }),
    fc.bigInt({ min: -(2n ** 63n) - 3n, max: -(2n ** 63n) + 3n }),
    fc.bigInt({ min: -3n, max: 3n }),
  ),
  fc.nat(20),
  fc.nat(20),
  fc.constantFrom<("e" | "E")[]>("e", "E"),
  fc.boolean(),
).map(([value, left, zeros, e, hasPlus]) => {
  const magnitude = (value < 0n ? -value : value).toString();
  // magnitude = whole.fraction × 10^left, padded with zeros that change nothing.
  const padded = magnitude.padStart(left + 1, "0");
  const whole = padded.slice(0, padded.length - left);
  const fraction = padded.slice(padded.length - left) + "0".repeat(zeros);
  const exponent = left === 0 ? "" : `${hasPlus ? "+" : ""}${left}`;
  return { sign: value < 0n ? "-" : "", whole, fraction, exponent, e };
});

/** Any JSON number, among them many that are int64 in unusual spellings. */
export const numberLiteral: fc.Arbitrary<NumberLiteral> = fc.oneof(
  anyLiteral,
  integerLiteral,
);
