/**
 * The form of an OpenAPI 3.1 document, as far as this service's own needs it. The members mean what
 * the specification says; that is why they are type aliases, which need no comment on each member.
 *
 * @see {@link https://spec.openapis.org/oas/v3.1.1.html}
 */

import type { ErrorCode } from "../../core/http/refusal.ts";
import { openApi } from "../../core/operations/operations.ts";
import { operations } from "../../core/operations/operations.ts";

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
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
};

/** A parameter of an operation, in the query, the path or the header. */
export type Parameter = {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required: boolean;
  readonly schema: Schema;
};

/** A header field of a response. */
export type Header = { readonly schema: Schema };

/** A body in one media type. */
export type MediaType = {
  readonly schema: Schema;
  readonly example?: unknown;
};

/** Bodies by media type. */
export type Content = Readonly<Record<string, MediaType>>;

/** A response of one status, or of all others. */
export type ResponseDescription = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  /** Absent when the response has none. */
  readonly content?: Content;
};

/** Names of ways to say who is calling. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** What a method on a path does. */
export type OperationDescription = {
  readonly operationId: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  /** Instead of the document's own; empty when no key is needed. */
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  /** All errors that it answers with: what its row in `core/operations/operations.ts` says, beside the document. */
  readonly errors: readonly ErrorCode[];
  /** By status, `"200"`, or `default`. */
  readonly responses: Readonly<Record<string, ResponseDescription>>;
};

/** The operations of a path by method. */
export type PathItem = Readonly<Record<string, OperationDescription>>;

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly security: readonly SecurityRequirement[];
  /** By path template, `/pets/{petId}`. */
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

/** The document of the service, and beside it the errors of each operation. */
export const DOCUMENT: OpenApiDocument = (() => {
  const document = JSON.parse(JSON.stringify(openApi()));
  for (const { path, method, errors } of operations) {
    document.paths[path][method.toLowerCase()].errors = [...errors];
  }
  return document;
})();
