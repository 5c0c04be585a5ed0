/**
 * Values that the schemas of the OpenAPI document allow, and values near to them that they forbid, as
 * the text of a parameter or as JSON text.
 *
 * @module
 */

import type { OpenApiDocument, Schema } from "./openapi_document.ts";
import { integerBounds, type Judge, resolve } from "./openapi_schema.ts";
import { fc } from "../support/property.ts";

// What the contract knows, whatever the document says: one that forbids it is found out.
const KNOWN = ["available", "pending", "sold", "1", "9223372036854775807"];

/** Integers within bounds, and often at one. */
function integer({ min, max }: {
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}): fc.Arbitrary<bigint> {
  const low = min ?? -(2n ** 80n);
  const high = max ?? 2n ** 80n;
  const small = fc.bigInt({
    min: low > 1n ? low : 1n,
    max: high < 60n ? high : 60n,
  });
  return fc.oneof(
    fc.constantFrom(low, high),
    small,
    fc.bigInt({ min: low, max: high }),
  );
}

/** The text of a value that a parameter may have. */
export function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.pattern !== undefined) {
    return fc.stringMatching(new RegExp(schema.pattern));
  }
  return schema.type === "string"
    ? fc.string({ minLength: schema.minLength ?? 0 })
    : integer(integerBounds(schema)).map(String);
}

/** Any text for a parameter, near to what it may be or not. */
export function anyText(schema: Schema): fc.Arbitrary<string> {
  const valid = validText(schema);
  const { min = -(2n ** 64n), max = 2n ** 64n } = integerBounds(schema);
  return fc.oneof(
    fc.constantFrom(min - 1n, max + 1n, min - 2n ** 70n, max + 2n ** 70n)
      .map(String),
    fc.tuple(
      fc.constantFrom("", "+", "-", "0", " ", "0x"),
      valid,
      fc.constantFrom("", ".0", "e0", " ", "n", ",1", "s"),
    ).map((parts) => parts.join("")),
    valid.map((text) => text.toUpperCase()),
    fc.constantFrom(...KNOWN),
    fc.constantFrom("", "null", "true", "NaN", "Infinity", "1e1", "10.0"),
    fc.string({ unit: "grapheme" }),
    fc.bigInt().map(String),
    ...(schema.pattern === undefined ? [] : [nearPattern]),
  );
}

/** Texts that a pattern is likely to forbid. */
const nearPattern = fc.oneof(
  fc.constantFrom('"', '""', '"a', '"a"b', '"a"", "b"', '"\\a"', "a b", '" "'),
  fc.string({ unit: fc.constantFrom('"', "\\", "a") }),
  fc.constantFrom("a".repeat(256), `"${"a".repeat(256)}"`),
);

/** JSON text that a schema allows. */
export function validJson(
  schema: Schema,
  document: OpenApiDocument,
): fc.Arbitrary<string> {
  const resolved = resolve(document, schema);
  if (resolved.enum !== undefined) {
    return fc.constantFrom(
      ...resolved.enum.map((text) => JSON.stringify(text)),
    );
  }
  switch (resolved.type) {
    case "integer":
      return spelledInteger(integer(integerBounds(resolved)));
    case "string":
      return spelledString(allowedString(resolved));
    default:
      return members(resolved, document).map(spellObject);
  }
}

type Members = Readonly<Record<string, string>>;

/** Members of an object that its schema allows; those that it does not require come and go. */
function members(
  { properties = {}, required = [] }: Schema,
  document: OpenApiDocument,
): fc.Arbitrary<Members> {
  const known = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      validJson(property, document),
    ]),
  );
  const extra = fc.option(
    fc.jsonValue({ maxDepth: 1 }).map((value) => ({
      "x-extra": JSON.stringify(value),
    })),
    { nil: {} },
  );
  return fc.tuple(
    fc.record(known, { requiredKeys: [...required] }),
    extra,
  ).map(([given, more]) => ({ ...given, ...more } as Members));
}

function spellObject(members: Members): string {
  return `{${
    Object.entries(members).map(([name, value]) =>
      `${JSON.stringify(name)}: ${value}`
    ).join(",")
  }}`;
}

/** An integer in one of the ways that JSON has for it. */
function spelledInteger(value: fc.Arbitrary<bigint>): fc.Arbitrary<string> {
  return fc.tuple(value, fc.constantFrom("", ".0", ".00e0", "0e-1", "e0"))
    .map(([number, ending]) => number === 0n ? "0" : `${number}${ending}`);
}

function spelledString(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(value, fc.boolean()).map(([text, isEscaped]) =>
    isEscaped
      ? `"${
        Array.from(
          { length: text.length },
          (_, index) =>
            `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`,
        ).join("")
      }"`
      : JSON.stringify(text)
  );
}

/** Strings within the bounds of length, in code points, and often at one. */
function allowedString(
  { minLength = 0, maxLength = 1000, pattern = "" }: Schema,
): fc.Arbitrary<string> {
  const allowed = new RegExp(pattern, "u");
  const character = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      " ",
      "\u0000",
      "\u001f",
      "\u007f",
      "\u0080",
      "~",
      "\u2028",
      "🐕",
      "\u{10ffff}",
    ),
  ).filter((text) => allowed.test(text));
  const array = (min: number, max: number): fc.Arbitrary<string> =>
    fc.array(character, {
      minLength: min,
      maxLength: max,
      size: "max",
    }).map((all) => all.join(""));
  return fc.oneof(
    { weight: 8, arbitrary: array(minLength, Math.min(10, maxLength)) },
    { weight: 1, arbitrary: array(minLength, minLength) },
    { weight: 1, arbitrary: repeated(character, maxLength) },
  );
}

/** A string of exactly this many code points. */
function repeated(
  character: fc.Arbitrary<string>,
  length: number,
): fc.Arbitrary<string> {
  return character.map((text) => text.repeat(length));
}

// ---- Faults ----

/** What is wrong with a body, and the body. */
type Fault = readonly [fault: string, body: string];

/** Bodies that the schema forbids, or that are no JSON at all. */
export function wrongBody(
  schema: Schema,
  { document, judge }: {
    readonly document: OpenApiDocument;
    readonly judge: Judge;
  },
): fc.Arbitrary<Fault> {
  const resolved = resolve(document, schema);
  const { properties = {}, required = [] } = resolved;
  const valid = members(resolved, document);

  const lacking = fc.tuple(valid, fc.constantFrom(...required)).map(
    ([whole, name]): Fault => {
      const { [name]: _, ...rest } = whole;
      return [`${name} is missing`, spellObject(rest)];
    },
  );
  const wrong = Object.entries(properties).map(([name, property]) => {
    const member = resolve(document, property);
    const value = wrongValue(member).filter(({ exact }) =>
      judge(member, exact).length > 0
    );
    return fc.tuple(valid, value).map(
      ([whole, { json }]): Fault => [
        `${name} is ${json.slice(0, 40)}`,
        spellObject({ ...whole, [name]: json }),
      ],
    );
  });
  const otherType = fc.oneof(
    valid.map((whole) => `[${spellObject(whole)}]`),
    fc.jsonValue().filter((value) =>
      typeof value !== "object" || value === null || Array.isArray(value)
    ).map((value) => JSON.stringify(value)),
  ).map((body): Fault => ["the body is no object", body]);
  const malformed = fc.tuple(
    valid.map(spellObject),
    fc.constantFrom(
      (text: string) => text.slice(0, -1),
      (text: string) => `${text}x`,
      (text: string) => `${text}${text}`,
      (text: string) => text.replace(":", "="),
      (text: string) => text.replaceAll('"', "'"),
      (text: string) => `${text.slice(0, -1)},}`,
      () => "",
    ),
  ).map(([text, spoil]): Fault => ["the body is no JSON", spoil(text)]);
  return fc.oneof(lacking, ...wrong, ...wrong, otherType, malformed);
}

interface WrongValue {
  readonly json: string;
  /** The value as the judge knows it. */
  readonly exact: unknown;
}

/** Values that a member may have or not: of another type, out of bounds, or at random. */
function wrongValue(schema: Schema): fc.Arbitrary<WrongValue> {
  const plain = (value: unknown): WrongValue => ({
    json: JSON.stringify(value),
    exact: value,
  });
  const otherTypes = fc.constantFrom<unknown>(null, true, [], {}, ["Rex"])
    .map(plain);
  const text = fc.string({ unit: "grapheme" }).map(plain);
  if (schema.type === "integer") {
    const { min = -(2n ** 80n), max = 2n ** 80n } = integerBounds(schema);
    const beyond = fc.oneof(
      fc.constantFrom(min - 1n, max + 1n),
      fc.bigInt({ min: max, max: max * 1000n }),
    ).map((value) => ({ json: `${value}`, exact: value }));
    const fraction = fc.constantFrom("1.5", "1e-1", "-0.5", "1e400", "1e19")
      .map((json) => ({ json, exact: Number(json) }));
    const quoted = integer({ min, max }).map(String).map(plain);
    return fc.oneof(otherTypes, text, beyond, fraction, quoted);
  }
  const number = fc.integer().map((value) => ({
    json: `${value}`,
    exact: BigInt(value),
  }));
  if (schema.enum !== undefined) {
    const known = fc.constantFrom(...KNOWN).map(plain);
    return fc.oneof(otherTypes, number, text, known);
  }
  const { minLength = 0, maxLength = 0 } = schema;
  const length = fc.oneof(
    fc.constantFrom(
      ...[minLength - 1, maxLength + 1].filter((value) => value >= 0),
    ),
    fc.integer({ min: maxLength + 1, max: maxLength * 3 }),
  ).chain((count) => repeated(fc.constantFrom("a", "é", "🐕"), count))
    .map(plain);
  const control = fc.tuple(
    fc.string(),
    fc.integer({ min: 0, max: 0xff }),
    fc.string(),
  ).map(([before, code, after]) =>
    plain(before + String.fromCharCode(code) + after)
  );
  return fc.oneof(otherTypes, number, length, control);
}
