/**
 * The service's OpenAPI document, typed as far as the tests read it. The members mean what the
 * specification says.
 *
 * @see {@link https://spec.openapis.org/oas/v3.1.1.html}
 */

import type { ErrorCode } from "../../core/http/refusal.ts";
import { openApi, operations } from "../../core/operations/operations.ts";

/** A JSON Schema (2020-12). */
export type Schema = {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer";
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly examples?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
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
  Record<string, { readonly schema: Schema; readonly example?: unknown }>
>;

/** A method on a path. */
export type OperationDescription = {
  readonly operationId: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  /** All errors that it answers with, as its row in `core/operations/operations.ts` says. */
  readonly errors: readonly ErrorCode[];
  /** By status, `"200"`, or `default`. */
  readonly responses: Readonly<
    Record<string, {
      readonly description: string;
      readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
      readonly content?: Content;
    }>
  >;
};

/** The document, and the errors of each operation. */
export const DOCUMENT: {
  /** By path template, `/pets/{petId}`, and method in lower case. */
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, OperationDescription>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
} = (() => {
  const document = JSON.parse(JSON.stringify(openApi()));
  for (const { path, method, errors } of operations) {
    document.paths[path][method.toLowerCase()].errors = [...errors];
  }
  return document;
})();
