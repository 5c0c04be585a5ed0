/**
 * Values that the schemas of the OpenAPI document allow, and values near to them that they forbid, as
 * the text of a parameter or as JSON text.
 */

import type { Schema } from "./openapi_document.ts";
import { integerBounds, judge, resolve } from "./openapi_schema.ts";
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
    { weight: 5, arbitrary: fc.constantFrom(min - 1n, max + 1n).map(String) },
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
export function validJson(schema: Schema): fc.Arbitrary<string> {
  const resolved = resolve(schema);
  if (resolved.enum !== undefined) {
    return fc.constantFrom(
      ...resolved.enum.map((text) => JSON.stringify(text)),
    );
  }
  switch (resolved.type) {
    case "integer":
      return spelledInteger(integer(integerBounds(resolved)));
    case "string":
      return allowedString(resolved).map((text) => JSON.stringify(text));
    default:
      return members(resolved).map(spellObject);
  }
}

type Members = Readonly<Record<string, string>>;

/** Members of an object that its schema allows; those that it does not require come and go. */
function members(
  { properties = {}, required = [] }: Schema,
): fc.Arbitrary<Members> {
  const known = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      validJson(property),
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

/** Bodies that the schema forbids, or that are not JSON. */
export function wrongBody(schema: Schema): fc.Arbitrary<Fault> {
  const resolved = resolve(schema);
  const { properties = {}, required = [] } = resolved;
  const valid = members(resolved);

  const lacking = fc.tuple(valid, fc.constantFrom(...required)).map(
    ([whole, name]): Fault => {
      const { [name]: _, ...rest } = whole;
      return [`${name} is missing`, spellObject(rest)];
    },
  );
  const wrong = Object.entries(properties).map(([name, property]) => {
    const member = resolve(property);
    const value = nearValue(member).filter((exact) =>
      judge(member, exact).length > 0
    );
    return fc.tuple(valid, value).map(([whole, exact]): Fault => {
      const json = typeof exact === "bigint"
        ? `${exact}`
        : JSON.stringify(exact);
      return [
        `${name} is ${json.slice(0, 40)}`,
        spellObject({ ...whole, [name]: json }),
      ];
    });
  });
  const malformed = valid.map(spellObject).chain((text) =>
    fc.constantFrom(`[${text}]`, "null", "7", text.slice(0, -1), `${text}x`, "")
  ).map((body): Fault => ["the body is not an object", body]);
  return fc.oneof(lacking, ...wrong, ...wrong, malformed);
}

/** Values that a member may have or not: of another type, just out of bounds, or at random. */
function nearValue(schema: Schema): fc.Arbitrary<unknown> {
  const { min = 0n, max = 0n } = integerBounds(schema);
  const { minLength = 0, maxLength = 0 } = schema;
  return fc.oneof(
    fc.constantFrom<unknown>(null, true, [], {}, ["Rex"], 1n, 1.5, 1e-1),
    fc.constantFrom<unknown>(min - 1n, max + 1n, max * 1000n, ...KNOWN),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(Math.max(minLength - 1, 0), maxLength + 1)
      .chain((count) => repeated(fc.constantFrom("a", "é", "🐕"), count)),
    fc.tuple(fc.string(), fc.integer({ min: 0, max: 0xff }))
      .map(([text, code]) => text + String.fromCharCode(code)),
  );
}
