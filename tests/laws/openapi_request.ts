/**
 * Requests generated from the OpenAPI document: such as it allows, and such as have one fault. All
 * bounds, names and values come from the document, so a wrong one makes a wrong request.
 *
 * @module
 */

import fc from "fast-check";
import type {
  OpenApiDocument,
  OperationDescription,
  Parameter,
} from "../../core/openapi_document.ts";
import type { Question } from "../contract/ask.ts";
import { parseText } from "./openapi_response.ts";
import { createJudge, type Judge, resolve } from "./openapi_schema.ts";
import { anyText, validJson, validText, wrongBody } from "./openapi_value.ts";

/** A service in a state that decides what becomes of a request. */
export type Condition = "sound" | "broken" | "unavailable" | "unknown" | "slow";

/** A request, and what the document says must become of it. */
export interface Generated {
  readonly method: string;
  /** The address below the base. */
  readonly address: string;
  readonly question: Question;
  readonly condition: Condition;
  /** The operation that answers; `undefined` where the document has none. */
  readonly operationId: string | undefined;
  /** The status that must come: `2` for any of the class. */
  readonly expected: 2 | number;
  /** What is wrong with it; empty where nothing is. */
  readonly fault: string;
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationDescription;
}

/** What stands in a request that can be varied. */
interface Draft {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: string | undefined;
}

/** Any request: one in three as the document allows, the others with one fault. */
export function anyRequest(document: OpenApiDocument): fc.Arbitrary<Generated> {
  const judge = createJudge(document);
  const places = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: operation as OperationDescription,
    }))
  );
  return fc.oneof(
    ...places.flatMap((place) => requestsTo(place, { document, judge })),
    { weight: 10, arbitrary: unknownMethod(document) },
    { weight: 10, arbitrary: unknownPath(document) },
  );
}

function requestsTo(
  place: Place,
  context: { readonly document: OpenApiDocument; readonly judge: Judge },
): fc.WeightedArbitrary<Generated>[] {
  const { document, judge } = context;
  const { operation } = place;
  const parameters = operation.parameters ?? [];
  const media = operation.requestBody?.content["application/json"];
  const allowed = draft(place, document);

  const finish = (
    { path, query, body }: Draft,
    rest: Partial<Generated> & { readonly expected: number },
  ): Generated => {
    const filled = place.path.replace(
      /\{([^}]+)\}/g,
      (_, name: string) => encodeURIComponent(path[name] ?? ""),
    );
    const search = query.map(([name, value]) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    ).join("&");
    return {
      method: place.method,
      address: search === "" ? filled : `${filled}?${search}`,
      question: body === undefined ? {} : { body },
      condition: "sound",
      operationId: operation.operationId,
      fault: "",
      ...rest,
    };
  };

  const arbitraries: fc.WeightedArbitrary<Generated>[] = [{
    weight: 60,
    arbitrary: allowed.map((whole) => finish(whole, { expected: 2 })),
  }];
  const add = (weight: number, arbitrary: fc.Arbitrary<Generated>): void => {
    arbitraries.push({ weight, arbitrary });
  };

  for (const parameter of parameters) {
    const schema = resolve(document, parameter.schema);
    const wrong = anyText(schema).filter((text) =>
      judge(schema, parseText(schema, text)).length > 0 &&
      (parameter.in === "query" || /^[^/.]+$/.test(text))
    );
    // A path that can be no identifier of anything is a path of nothing.
    const expected = parameter.in === "path" ? 404 : 400;
    add(
      20,
      fc.tuple(allowed, wrong).map(([whole, text]) =>
        finish(replace(whole, parameter, [text]), {
          expected,
          fault: `${parameter.name} is ${JSON.stringify(text)}`,
        })
      ),
    );
    if (parameter.in === "query" && parameter.required) {
      add(
        10,
        allowed.map((whole) =>
          finish(replace(whole, parameter, []), {
            expected,
            fault: `${parameter.name} is missing`,
          })
        ),
      );
    }
    if (parameter.in === "query") {
      add(
        10,
        fc.tuple(allowed, validText(schema), validText(schema)).map((
          [whole, first, second],
        ) =>
          finish(replace(whole, parameter, [first, second]), {
            expected,
            fault: `${parameter.name} twice`,
          })
        ),
      );
    }
  }

  if (media !== undefined) {
    add(
      80,
      fc.tuple(allowed, wrongBody(media.schema, context)).map((
        [whole, [fault, body]],
      ) => finish({ ...whole, body }, { expected: 400, fault })),
    );
    add(
      10,
      fc.tuple(allowed, mediaFault).map(([whole, headers]) =>
        finish(whole, {
          question: { body: whole.body ?? "", headers },
          expected: 415,
          fault: JSON.stringify(headers),
        })
      ),
    );
    add(
      2,
      allowed.map((whole) =>
        finish(whole, {
          question: { body: (whole.body ?? "").padEnd(65_537) },
          expected: 413,
          fault: "a body that is too large",
        })
      ),
    );
    add(
      3,
      allowed.map((whole) =>
        finish(whole, {
          question: { body: new ReadableStream() },
          condition: "slow",
          expected: 408,
          fault: "a body that does not arrive",
        })
      ),
    );
    add(
      3,
      allowed.map((whole) =>
        finish(whole, {
          condition: "unknown",
          expected: 503,
          fault: "nobody knows whether it was stored",
        })
      ),
    );
  }

  add(
    10,
    fc.tuple(allowed, keyFault).map(([whole, authorization]) =>
      finish(whole, {
        question: {
          ...(whole.body === undefined ? {} : { body: whole.body }),
          headers: { authorization },
        },
        expected: 401,
        fault: `authorization is ${authorization}`,
      })
    ),
  );
  add(
    3,
    allowed.map((whole) =>
      finish(whole, {
        condition: "broken",
        expected: 500,
        fault: "the storage is broken",
      })
    ),
  );
  add(
    3,
    allowed.map((whole) =>
      finish(whole, {
        condition: "unavailable",
        expected: 503,
        fault: "the storage is away",
      })
    ),
  );
  if (place.method === "GET") {
    add(
      10,
      allowed.map((whole) => finish(whole, { method: "HEAD", expected: 2 })),
    );
  }
  return arbitraries;
}

/** A request that the document allows, not yet put together. */
function draft(
  { operation }: Place,
  document: OpenApiDocument,
): fc.Arbitrary<Draft> {
  const parameters = operation.parameters ?? [];
  const media = operation.requestBody?.content["application/json"];
  const texts = parameters.map((parameter) => {
    const text = validText(resolve(document, parameter.schema))
      .map((value) => [parameter, value] as const);
    return parameter.required ? text : fc.option(text, { nil: undefined });
  });
  const body = media === undefined
    ? fc.constant(undefined)
    : validJson(resolve(document, media.schema), document);
  return fc.record({ texts: fc.tuple(...texts), body }).map((parts) => {
    const given = parts.texts.filter((text) => text !== undefined);
    return {
      path: Object.fromEntries(
        given.filter(([parameter]) => parameter.in === "path")
          .map(([parameter, value]) => [parameter.name, value]),
      ),
      query: given.filter(([parameter]) => parameter.in === "query")
        .map(([parameter, value]) => [parameter.name, value] as const),
      body: parts.body,
    };
  });
}

/** The same request with other values of one parameter. */
function replace(
  whole: Draft,
  parameter: Parameter,
  values: readonly string[],
): Draft {
  const [first = ""] = values;
  if (parameter.in === "path") {
    return { ...whole, path: { ...whole.path, [parameter.name]: first } };
  }
  const others = whole.query.filter(([name]) => name !== parameter.name);
  return {
    ...whole,
    query: [
      ...others,
      ...values.map((value) => [parameter.name, value] as const),
    ],
  };
}

const mediaFault = fc.constantFrom<Readonly<Record<string, string>>>(
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

function unknownMethod(document: OpenApiDocument): fc.Arbitrary<Generated> {
  const paths = Object.entries(document.paths).map(([path, item]) => ({
    address: path.replace(/\{[^}]+\}/g, "1"),
    known: Object.keys(item).flatMap((method) =>
      method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]
    ),
  }));
  const methods = ["OPTIONS", "PUT", "DELETE", "PATCH", "POST", "QUERY"];
  return fc.tuple(fc.constantFrom(...paths), fc.constantFrom(...methods))
    .filter(([{ known }, method]) => !known.includes(method))
    .map(([{ address }, method]) => ({
      method,
      address,
      question: {},
      condition: "sound",
      operationId: undefined,
      expected: method === "OPTIONS" ? 204 : 405,
      fault: `${method} is no method of the path`,
    }));
}

function unknownPath(document: OpenApiDocument): fc.Arbitrary<Generated> {
  const known = Object.keys(document.paths).map((path) =>
    new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`)
  );
  return fc.tuple(
    fc.constantFrom("GET", "POST", "HEAD", "DELETE", "OPTIONS"),
    fc.constantFrom("/", "/pets/", "/pets/1/", "/store/orders", "/Pets", "/x"),
  )
    .filter(([, path]) => !known.some((pattern) => pattern.test(path)))
    .map(([method, address]) => ({
      method,
      address,
      question: {},
      condition: "sound",
      operationId: undefined,
      expected: 404,
      fault: "a path that is not described",
    }));
}
