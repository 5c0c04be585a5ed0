/**
 * What the schemas of the OpenAPI document allow, judged by Ajv (JSON Schema 2020-12) on exact values.
 *
 * Ajv knows integers as JavaScript numbers, which cannot tell 2^63 from 2^63 - 1. So values are read
 * with `bigint` integers, and a keyword of our own judges those.
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import { parseInt64 } from "../../core/pets/int64.ts";
import { DOCUMENT, type Schema } from "./openapi_document.ts";

/** An integer schema with all that it says of the value. */
export interface IntegerBounds {
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

const FORMAT_BITS: Readonly<Record<string, bigint>> = {
  int32: 31n,
  int64: 63n,
};

/** The bounds of an integer schema: those of its format, and those that are written. */
export function integerBounds(schema: Schema): IntegerBounds {
  const bits = FORMAT_BITS[schema.format ?? ""];
  const min = bits === undefined ? undefined : -(2n ** bits);
  const max = bits === undefined ? undefined : 2n ** bits - 1n;
  return {
    min: schema.minimum === undefined ? min : BigInt(schema.minimum),
    max: schema.maximum === undefined ? max : BigInt(schema.maximum),
  };
}

/** The schema that a reference points at; what stands beside the reference wins. */
export function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  const name = $ref.replace("#/components/schemas/", "");
  const target = DOCUMENT.components.schemas[name];
  assert.ok(target !== undefined, `there is no ${$ref}`);
  return resolve({ ...target, ...rest });
}

const ajv = new Ajv2020({ allErrors: true });
ajv.addFormat("uri-reference", (text) => URL.canParse(text, "http://x/"));
ajv.addKeyword({
  keyword: "exactInteger",
  validate: ({ min, max }: IntegerBounds, value: unknown) =>
    typeof value === "bigint" && (min === undefined || value >= min) &&
    (max === undefined || value <= max),
});
const compiled = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

/** Judges a value as `parseJson` reads it: returns what is wrong with it, an empty list if nothing is. */
export function judge(schema: Schema, value: unknown): readonly string[] {
  const validate = compiled.get(schema) ?? ajv.compile(toAjv(schema));
  compiled.set(schema, validate);
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

/** Returns the value that a header field or a parameter denotes: an integer in canonical form, or the text. */
export function parseText(schema: Schema, text: string): unknown {
  return schema.type === "integer" ? parseInt64(text) ?? text : text;
}

/** The same schema without references, and with integers as the keyword `exactInteger`. */
function toAjv(schema: Schema): Record<string, unknown> {
  const resolved = resolve(schema);
  if (resolved.type === "integer") {
    return { exactInteger: integerBounds(resolved) };
  }
  const { items, properties, ...rest } = resolved;
  return {
    ...rest,
    ...(items === undefined ? {} : { items: toAjv(items) }),
    ...(properties === undefined ? {} : {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          toAjv(property),
        ]),
      ),
    }),
  };
}
