/**
 * The service's OpenAPI document, typed as far as the tests read it, and how values and whole
 * responses are checked against it. Values are checked exactly, by Ajv (JSON Schema 2020-12).
 *
 * Ajv knows integers as JavaScript numbers, which cannot tell 2^63 from 2^63 - 1. So values are
 * read with `bigint` integers, which our own keyword checks.
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import { parseJson } from "./any_body.ts";
import type { Answer } from "../contract/ask.ts";
import {
  assertAnyError,
  assertJsonHeaders,
  STATUS_OF,
} from "../contract/error_reply.ts";
import { openApi } from "../../mod.ts";

/** A JSON Schema (2020-12). */
export type Schema = {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer";
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
};

/** A parameter of an operation. */
export type Parameter = {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required: boolean;
  readonly schema: Schema;
};

/** Bodies by media type. */
export type Content = Readonly<
  Record<string, {
    readonly schema: Schema;
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  }>
>;

/** A method on a path. */
export type OperationDescription = {
  readonly operationId: string;
  /** A template: `/pets/{petId}`. */
  readonly path: string;
  readonly method: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Content;
  };
  /** By status, `"200"`, or `default`. */
  readonly responses: Readonly<
    Record<string, {
      readonly description: string;
      readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
      readonly content?: Content;
      readonly links?: Readonly<
        Record<string, {
          readonly operationId: string;
          readonly parameters: Readonly<Record<string, string>>;
        }>
      >;
    }>
  >;
};

/**
 * The document, with `bigint` integers in its examples, and header fields instead of references to
 * them.
 */
const { paths, components }: {
  readonly paths: Readonly<
    Record<string, Record<string, OperationDescription>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly schema: Schema }>>;
  };
} = readDocument();

function readDocument() {
  const text = JSON.stringify(openApi());
  const { headers } = JSON.parse(text).components;
  return JSON.parse(
    text,
    (key, value, context?: { readonly source: string }) => {
      if (key !== "" && typeof value?.$ref === "string") {
        const [, name] =
          /^#\/components\/headers\/([\w-]+)$/.exec(value.$ref) ??
            [];
        if (name !== undefined) return headers[name] ?? assert.fail(value.$ref);
      }
      return typeof value === "number" && !Number.isSafeInteger(value)
        ? BigInt(context?.source ?? assert.fail("an old runtime"))
        : value;
    },
  );
}

/** The schemas of the document, by name. */
export const SCHEMAS = components.schemas;

/** The header fields that several responses have, by name. */
export const HEADERS = components.headers;

/** The operations of the document, by `operationId`. */
export const OPERATIONS: Readonly<Record<string, OperationDescription>> = Object
  .fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [
        operation.operationId,
        { ...operation, path, method: method.toUpperCase() },
      ])
    ),
  );

/** The bounds of an integer schema: its own, or those of its format. */
export function integerBounds(
  { format = "", minimum, maximum }: Schema,
): { readonly min: bigint; readonly max: bigint } {
  const [, bits = assert.fail("an integer without bits")] =
    /^int(32|64)$/.exec(format) ?? [];
  const limit = 2n ** (BigInt(bits) - 1n);
  return {
    min: minimum === undefined ? -limit : BigInt(minimum),
    max: maximum === undefined ? limit - 1n : BigInt(maximum),
  };
}

/** The schema that a reference points to; members next to the reference win. */
export function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  const name = $ref.replace("#/components/schemas/", "");
  const target = SCHEMAS[name];
  assert.ok(target !== undefined, `there is no ${$ref}`);
  return resolve({ ...target, ...rest });
}

const ajv = new Ajv2020({ allErrors: true });
ajv.addFormat("uri-reference", (text) => URL.canParse(text, "http://x/"));
ajv.addKeyword({
  keyword: "exactInteger",
  validate: ({ min, max }: ReturnType<typeof integerBounds>, value: unknown) =>
    typeof value === "bigint" && value >= min && value <= max,
});
const compiled = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

/** Checks a value read by `parseJson`: returns what is wrong with it, or an empty list. */
export function errorsIn(schema: Schema, value: unknown): readonly string[] {
  const validate = compiled.get(schema) ?? ajv.compile(toAjv(schema));
  compiled.set(schema, validate);
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

/** Returns the value of a header field or parameter: an integer in canonical form, or the text. */
export function parseText(schema: Schema, text: string): unknown {
  const isInteger = schema.type === "integer" &&
    /^(?:0|-?[1-9][0-9]*)$/.test(text);
  return isInteger ? BigInt(text) : text;
}

/** The same schema without references, and with integers as the keyword `exactInteger`. */
function toAjv(schema: Schema): Record<string, unknown> {
  const resolved = resolve(schema);
  if (resolved.type === "integer") {
    return { exactInteger: integerBounds(resolved) };
  }
  const { items, properties, ...rest } = resolved;
  const all = Object.entries(properties ?? {})
    .map(([name, property]) => [name, toAjv(property)]);
  return {
    ...rest,
    ...items && { items: toAjv(items) },
    ...properties && { properties: Object.fromEntries(all) },
  };
}

// ---- Responses ----

/** Fields that the document does not mention. */
const ALWAYS = [
  "content-type",
  "content-length",
  "cache-control",
  "x-content-type-options",
];
const DEPRECATION = ["deprecation", "sunset", "link"];

/**
 * The statuses of the errors that the default response of an operation names in words, with their
 * codes.
 */
export function namedErrors(
  { responses, operationId }: OperationDescription,
): readonly string[] {
  const words = responses.default?.description ?? "";
  return Array.from(
    words.matchAll(/(\w+) `(\w*)`/g),
    ([, status = "", code = ""]) => {
      assert.equal(Number(status), STATUS_OF[code], operationId);
      return status;
    },
  );
}

/**
 * Asserts that a response to this operation is declared: its status, or an error that the default response
 * names, every header field that it has, its media type and its body. To `HEAD` the body is empty.
 */
export function assertDeclared(
  answer: Answer,
  { operation, isHead }: {
    readonly operation: OperationDescription;
    readonly isHead: boolean;
  },
): void {
  const { status, headers, text } = answer;
  const { responses, deprecated = false } = operation;
  const declared = namedErrors(operation).includes(`${status}`)
    ? responses.default
    : responses[status];
  assert.ok(declared !== undefined, `${status} is not declared`);
  const { headers: fields = {}, content } = declared;

  const isDeprecated = deprecated && status !== 400 && status !== 405; // sooner than the operation is known
  const known = [
    ...Object.keys(fields).map((name) => name.toLowerCase()),
    ...ALWAYS,
  ];
  for (const name of headers.keys()) {
    assert.ok(known.includes(name), `${name}: undeclared`);
  }
  for (const [name, { schema }] of Object.entries(fields)) {
    const value = headers.get(name);
    if (value === null) continue;
    const wrong = errorsIn(schema, parseText(schema, value));
    assert.deepEqual(wrong, [], `${name}: ${value}`);
  }
  for (const name of deprecated ? DEPRECATION : []) {
    assert.equal(headers.has(name), isDeprecated, name);
  }

  const mediaType = headers.get("content-type");
  if (content === undefined) {
    assert.deepEqual([mediaType, text], [null, ""], "there is content");
    return;
  }
  const body = content[mediaType ?? ""];
  assert.ok(body !== undefined, `the media type ${mediaType} is undeclared`);
  if (!("ETag" in fields)) assertJsonHeaders(headers);
  if (isHead) return assert.equal(text, "");
  assert.deepEqual(errorsIn(body.schema, parseJson(text)), [], text);
  if (status >= 400) assertAnyError(answer);
}
