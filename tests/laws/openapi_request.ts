/**
 * Requests generated from the OpenAPI document: those that it allows, and those that one value makes wrong.
 * All bounds, names and values come from the document, so a wrong one makes a wrong request.
 */

import {
  DOCUMENT,
  type OperationDescription,
  type Parameter,
  type Schema,
} from "./openapi_document.ts";
import { parseJson } from "../../core/json.ts";
import type { Question } from "../contract/ask.ts";
import { anyBody, whims, write } from "./any_body.ts";
import { integerBounds, judge, parseText, resolve } from "./openapi_schema.ts";
import { fc } from "../support/property.ts";

/** A request, and what the document says must become of it. */
export interface Generated {
  readonly method: string;
  /** The address below the base. */
  readonly address: string;
  readonly question: Question;
  readonly operation: OperationDescription;
  /** The status that must come: `2` for any of the class. */
  readonly expected: 2 | number;
  /** The mistake in it; empty if there is none. */
  readonly fault: string;
}

/** The values of a request. */
interface Draft {
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string | undefined;
}

type Case = Pick<Generated, "expected" | "fault"> & { readonly draft: Draft };

/** Any request: one in three as the document allows, the others with one wrong value. */
export function anyRequest(): fc.Arbitrary<Generated> {
  return fc.oneof(
    ...Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) =>
        requestsTo(path, method, operation)
      )
    ),
  );
}

function requestsTo(
  path: string,
  method: string,
  operation: OperationDescription,
): fc.WeightedArbitrary<Generated>[] {
  const { parameters = [], requestBody } = operation;
  const schema = requestBody?.content["application/json"]?.schema;
  const allowed = anyDraft(path, operation);
  const arbitraries: fc.WeightedArbitrary<Generated>[] = [];
  function add(weight: number, cases: fc.Arbitrary<Case>): void {
    const arbitrary = cases.map(({ draft, ...outcome }) => ({
      ...{ method: method.toUpperCase(), operation },
      ...finish(draft),
      ...outcome,
    }));
    arbitraries.push({ weight, arbitrary });
  }

  add(60, allowed.map((draft) => ({ draft, expected: 2, fault: "" })));

  for (const parameter of parameters) {
    const { name } = parameter;
    if (name === "If-None-Match") continue; // no text is wrong
    const schema = resolve(parameter.schema);
    // A path that can be no pet's is a path of nothing.
    const expected = parameter.in === "path" ? 404 : 400;
    const wrong = anyText(schema).filter((text) =>
      judge(schema, parseText(schema, text)).length > 0 &&
      SENDABLE[parameter.in].test(text)
    );
    add(
      20,
      fc.tuple(allowed, wrong).map(([draft, text]) => ({
        draft: replace(draft, parameter, [text]),
        expected,
        fault: `${name} is ${JSON.stringify(text)}`,
      })),
    );
    if (parameter.in !== "query") continue;
    const two = fc.tuple(validText(schema), validText(schema));
    add(
      10,
      fc.tuple(allowed, two).map(([draft, texts]) => ({
        draft: replace(draft, parameter, texts),
        expected,
        fault: `${name} twice`,
      })),
    );
  }

  if (schema !== undefined) {
    const wrong = bodies.filter((body) => !isAllowed(schema, body));
    add(
      80,
      fc.tuple(allowed, wrong).map(([draft, body]) => ({
        draft: { ...draft, body },
        expected: 400,
        fault: "the body",
      })),
    );
  }
  return arbitraries;
}

function finish(
  { path, query, headers, body }: Draft,
): Pick<Generated, "address" | "question"> {
  const search = query.map(([name, value]) =>
    `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  ).join("&");
  return {
    address: search === "" ? path : `${path}?${search}`,
    question: body === undefined ? { headers } : { headers, body },
  };
}

/** A request that the document allows. */
function anyDraft(
  path: string,
  { parameters = [], requestBody }: OperationDescription,
): fc.Arbitrary<Draft> {
  const schema = requestBody?.content["application/json"]?.schema;
  const texts = parameters.map((parameter) => {
    const text = validText(resolve(parameter.schema))
      .filter((value) => value.trim() !== "*") // any tag, so a 304
      .map((value) => [parameter, value] as const);
    return parameter.required ? text : fc.option(text, { nil: undefined });
  });
  const body = schema === undefined
    ? fc.constant(undefined)
    : bodies.filter((body) => isAllowed(schema, body));
  return fc.record({ texts: fc.tuple(...texts), body }).map((parts) =>
    parts.texts.filter((text) => text !== undefined).reduce<Draft>(
      (whole, [parameter, value]) => replace(whole, parameter, [value]),
      { path, query: [], headers: {}, body: parts.body },
    )
  );
}

/** The same request with other values of one parameter. */
function replace(
  whole: Draft,
  { name, in: where }: Parameter,
  values: readonly string[],
): Draft {
  const [first = ""] = values;
  switch (where) {
    case "path": {
      const path = whole.path.replace(
        /[^/]*$/,
        () => encodeURIComponent(first),
      );
      return { ...whole, path };
    }
    case "header":
      return { ...whole, headers: { ...whole.headers, [name]: first } };
    case "query": {
      const others = whole.query.filter(([other]) => other !== name);
      const given = values.map((value) => [name, value] as const);
      return { ...whole, query: [...others, ...given] };
    }
  }
}

/** Texts that can be sent at that place, and mean nothing else there. */
const SENDABLE: Readonly<Record<Parameter["in"], RegExp>> = {
  path: /^[^/.]+$/,
  query: /^/,
  header: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
};

// ---- Values ----

// Values of the contract, whatever the document says: one that forbids them is found out.
const KNOWN = ["available", "pending", "sold", "1", "9223372036854775807"];

/** The text of a value that a parameter may have. */
function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.pattern !== undefined) {
    return fc.stringMatching(new RegExp(schema.pattern));
  }
  if (schema.type === "string") return fc.string();
  const { min = -(2n ** 80n), max = 2n ** 80n } = integerBounds(schema);
  return fc.oneof(fc.constantFrom(min, max), fc.bigInt({ min, max }))
    .map(String);
}

/** Any text for a parameter, near to what it may be or not. */
function anyText(schema: Schema): fc.Arbitrary<string> {
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

/** Any body, most of them JSON. No schema can say that a text must be well-formed Unicode. */
const bodies = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(anyBody, whims).map(([body, whims]) =>
      write(body, whims)
    ).filter((body) => !/\\ud[89a-f]/i.test(body)),
  },
  fc.constantFrom("", "{", '{"name":"Rex","categoryId":1}x', "[{}"),
);

function isAllowed(schema: Schema, body: string): boolean {
  try {
    return judge(schema, parseJson(body)).length === 0;
  } catch {
    return false; // no JSON
  }
}
