/**
 * Requests generated from the OpenAPI document: such as it allows, and such as have one fault. All
 * bounds, names and values come from the document, so a wrong one makes a wrong request.
 */

import {
  DOCUMENT,
  type OperationDescription,
  type Parameter,
  type PathItem,
  type Schema,
} from "./openapi_document.ts";
import { parseJson } from "../../core/json.ts";
import type { Question } from "../contract/ask.ts";
import { anyBody, whims, write } from "./any_body.ts";
import { integerBounds, judge, parseText, resolve } from "./openapi_schema.ts";
import { fc } from "../support/property.ts";

/** A service in a state that decides what becomes of a request. */
export type Condition =
  | "sound"
  | "broken"
  | "unavailable"
  | "unknown"
  | "slow"
  | "limited";

/** A request, and what the document says must become of it. */
export interface Generated {
  readonly method: string;
  /** The address below the base. */
  readonly address: string;
  readonly question: Question;
  readonly condition: Condition;
  /** The path as the document has it; `undefined` where it does not. */
  readonly path: string | undefined;
  /** The operation that must declare the response; `undefined` if there is none. */
  readonly operation: OperationDescription | undefined;
  /** The status that must come: `2` for any of the class. */
  readonly expected: 2 | number;
  /** What is wrong with it; empty where nothing is. */
  readonly fault: string;
}

/** An idempotency key that was used before, and the animal that was added with it. */
export const USED = {
  key: '"used"',
  body: '{"name":"\u{10ffff}","categoryId":-77}',
} as const;

/** An operation, and where it is. */
interface Place {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationDescription;
}

type Fields = Readonly<Record<string, string | undefined>>;

/** What stands in a request that can be varied. */
interface Draft {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Fields;
  readonly body: string | ReadableStream<Uint8Array> | undefined;
}

/** A request to a path, put together but for what is the same for all of them. */
type Case = Pick<Generated, "expected"> & Partial<Generated> & {
  readonly draft: Draft;
};

/**
 * Any request: one in three as the document allows, the others with one fault.
 *
 * @param etag the entity tag of the document as it is served.
 */
export function anyRequest(etag: string): fc.Arbitrary<Generated> {
  return fc.oneof(
    ...Object.entries(DOCUMENT.paths).flatMap(([path, item]) => [
      ...Object.entries(item).flatMap(([method, operation]) =>
        requestsTo({ path, method: method.toUpperCase(), operation }, etag)
      ),
      { weight: 15, arbitrary: otherMethod(path) },
    ]),
    { weight: 10, arbitrary: unknownPath() },
  );
}

function requestsTo(
  { path, method, operation }: Place,
  etag: string,
): fc.WeightedArbitrary<Generated>[] {
  const { parameters = [], errors } = operation;
  const media = operation.requestBody?.content["application/json"];
  const allowed = draft(operation);
  const arbitraries: fc.WeightedArbitrary<Generated>[] = [];
  const add = (weight: number, cases: fc.Arbitrary<Case>): void => {
    const place = { path, method, operation };
    const arbitrary = cases.map((each) => finish(place, each));
    arbitraries.push({ weight, arbitrary });
  };
  const vary = (
    weight: number,
    outcome: Omit<Case, "draft">,
    change = (draft: Draft): Draft => draft,
  ): void =>
    add(weight, allowed.map((draft) => ({ ...outcome, draft: change(draft) })));

  vary(60, { expected: 2 });

  for (const parameter of parameters) {
    const { name } = parameter;
    const schema = resolve(parameter.schema);
    // A path that can be no identifier of anything is a path of nothing.
    const expected = parameter.in === "path" ? 404 : 400;
    if (name !== "If-None-Match") { // of which no text is wrong
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
    }
    if (parameter.in === "query") {
      add(
        10,
        fc.tuple(allowed, validText(schema), validText(schema)).map((
          [draft, first, second],
        ) => ({
          draft: replace(draft, parameter, [first, second]),
          expected,
          fault: `${name} twice`,
        })),
      );
    }
    if (name === "Idempotency-Key") {
      const sent = allowed.map((draft) =>
        replace(draft, parameter, [USED.key])
      );
      const fault = "the key was used before";
      add(
        10,
        fc.tuple(sent, fc.boolean()).map(([draft, isEqual]) =>
          isEqual
            ? { draft: { ...draft, body: USED.body }, expected: 201, fault }
            : { draft, expected: 422, fault }
        ),
      );
    }
    if (name === "If-None-Match") {
      const tags = fc.constantFrom("*", etag, `W/${etag}`, `"x", ${etag}`);
      add(
        20,
        fc.tuple(allowed, tags, fc.constantFrom("GET", "HEAD")).map((
          [draft, text, method],
        ) => ({
          draft: replace(draft, parameter, [text]),
          method,
          expected: 304,
          fault: "the client has the document",
        })),
      );
    }
  }

  if (media !== undefined) {
    add(
      80,
      fc.tuple(allowed, bodies.filter((body) => !isAllowed(media.schema, body)))
        .map(([draft, body]) => ({
          draft: { ...draft, body },
          expected: 400,
          fault: "the body",
        })),
    );
    add(
      10,
      fc.tuple(allowed, mediaFault).map(([draft, headers]) => ({
        draft: { ...draft, headers },
        expected: 415,
        fault: JSON.stringify(headers),
      })),
    );
    vary(4, { expected: 413, fault: "the body is too large" }, (draft) => ({
      ...draft,
      body: `${draft.body}`.padEnd(65_537),
    }));
    vary(
      4,
      { expected: 408, fault: "no body arrives", condition: "slow" },
      (draft) => ({ ...draft, body: new ReadableStream() }),
    );
    vary(4, {
      expected: 503,
      fault: "nobody knows whether it was stored",
      condition: "unknown",
    });
  }

  const needsKey = (operation.security ?? DOCUMENT.security).length > 0;
  add(
    10,
    fc.tuple(allowed, keyFault).map(([draft, authorization]) => ({
      draft: { ...draft, headers: { ...draft.headers, authorization } },
      expected: needsKey ? 401 : 2,
      fault: `authorization is ${authorization}`,
    })),
  );
  add(
    5,
    fc.tuple(allowed, hostFault).map(([draft, host]) => ({
      draft: { ...draft, headers: { ...draft.headers, host } },
      expected: 400,
      fault: `Host is ${host}`,
    })),
  );
  // What fails is the storage, and an operation that needs no key asks for nothing that is kept.
  for (
    const [condition, code, status] of [
      ["limited", "too_many_requests", 429],
      ["broken", "internal_error", 500],
      ["unavailable", "service_unavailable", 503],
    ] as const
  ) {
    vary(4, {
      condition,
      expected: needsKey && errors.includes(code) ? status : 2,
      fault: `the service is ${condition}`,
    });
  }
  if (method === "GET") vary(10, { method: "HEAD", expected: 2 });
  return arbitraries;
}

function finish(
  { path, ...place }: Place,
  { draft, ...rest }: Case,
): Generated {
  const filled = path.replace(
    /\{([^}]+)\}/g,
    (_, name: string) => encodeURIComponent(draft.path[name] ?? ""),
  );
  const search = draft.query.map(([name, value]) =>
    `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  ).join("&");
  const { headers, body } = draft;
  return {
    path,
    address: search === "" ? filled : `${filled}?${search}`,
    question: body === undefined ? { headers } : { headers, body },
    condition: "sound",
    fault: "",
    ...place,
    ...rest,
  };
}

/** A request that the document allows, not yet put together. */
function draft(
  { parameters = [], requestBody }: OperationDescription,
): fc.Arbitrary<Draft> {
  const media = requestBody?.content["application/json"];
  const texts = parameters.map((parameter) => {
    const text = validText(resolve(parameter.schema))
      .filter((value) => value.trim() !== "*") // the tag of whatever there is
      .map((value) => [parameter, value] as const);
    return parameter.required ? text : fc.option(text, { nil: undefined });
  });
  const body = media === undefined
    ? fc.constant(undefined)
    : bodies.filter((body) => isAllowed(media.schema, body));
  return fc.record({ texts: fc.tuple(...texts), body }).map((parts) =>
    parts.texts.filter((text) => text !== undefined).reduce<Draft>(
      (whole, [parameter, value]) => replace(whole, parameter, [value]),
      { path: {}, query: [], headers: {}, body: parts.body },
    )
  );
}

/** The same request with other values of one parameter. */
function replace(
  whole: Draft,
  { name, in: where }: Parameter,
  values: readonly string[],
): Draft {
  const [first] = values;
  switch (where) {
    case "path":
      return { ...whole, path: { ...whole.path, [name]: first ?? "" } };
    case "header":
      return { ...whole, headers: { ...whole.headers, [name]: first } };
    case "query": {
      const others = whole.query.filter(([other]) => other !== name);
      const given = values.map((value) => [name, value] as const);
      return { ...whole, query: [...others, ...given] };
    }
  }
}

/** Texts that can be sent at that place, and are nothing else there. */
const SENDABLE: Readonly<Record<Parameter["in"], RegExp>> = {
  path: /^[^/.]+$/,
  query: /^/,
  header: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
};

const mediaFault = fc.constantFrom<Fields>(
  { "content-type": "text/plain" },
  { "content-type": "application/xml" },
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "application/x-www-form-urlencoded" },
  { "content-encoding": "gzip" },
  { "content-encoding": "br" },
);

const keyFault = fc.oneof(
  fc.constantFrom(undefined, "", "Bearer", "Basic dTpw", "secret"),
  fc.string({ minLength: 1 }).map((text) => text.trim())
    .filter((text) => text !== "secret")
    .map((text) => `Bearer ${text}`),
);

const hostFault = fc.constantFrom(
  "a/b",
  "a b",
  "user@localhost",
  "localhost:x",
  "[::1",
  "%",
);

/** Requests that are the path's own matter: `OPTIONS`, and methods that it does not have. */
function otherMethod(
  path: string,
): fc.Arbitrary<Generated> {
  const known = methodsOf(DOCUMENT.paths[path] ?? {}).slice(0, -1);
  const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "QUERY", "OPTIONS"]
    .filter((method) => !known.includes(method));
  const headers = fc.oneof(
    fc.constant({}),
    keyFault.map((authorization) => ({ authorization })),
    hostFault.map((host) => ({ host })),
  );
  return fc.tuple(fc.constantFrom(...methods), headers).map((
    [method, headers],
  ) => ({
    method,
    address: path.replace("{petId}", "7"),
    question: { headers },
    condition: "sound",
    path,
    operation: undefined,
    expected: "host" in headers ? 400 : method === "OPTIONS" ? 204 : 405,
    fault: `${method} is no method of the path`,
  }));
}

/** The methods of a path, with those that HTTP adds. */
export function methodsOf(item: PathItem): string[] {
  const methods = Object.keys(item).flatMap((method) =>
    method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]
  );
  return [...methods, "OPTIONS"];
}

function unknownPath(): fc.Arbitrary<Generated> {
  const known = Object.keys(DOCUMENT.paths).map((path) =>
    new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`)
  );
  const paths = [
    "/",
    "/pets/",
    "/pets/1/",
    "/store/orders",
    "/Pets",
    "/openapi",
    "/openapi.json/",
    "/x",
    // What the service has, whatever the document says: one that leaves it out is found out.
    "/pets",
    "/pets/1",
    "/openapi.json",
  ].filter((path) => !known.some((pattern) => pattern.test(path)));
  return fc.record({
    method: fc.constantFrom("GET", "POST", "HEAD", "DELETE", "OPTIONS"),
    address: fc.constantFrom(...paths),
  }).map((request) => ({
    ...request,
    question: {},
    condition: "sound",
    path: undefined,
    operation: undefined,
    expected: 404,
    fault: "a path that is not described",
  }));
}

// ---- Values ----

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
function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.pattern !== undefined) {
    return fc.stringMatching(new RegExp(schema.pattern));
  }
  return schema.type === "string"
    ? fc.string({ minLength: schema.minLength ?? 0 })
    : integer(integerBounds(schema)).map(String);
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
