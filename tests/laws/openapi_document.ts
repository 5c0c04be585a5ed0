/**
 * The form of an OpenAPI 3.1 document, as far as this service's own needs it. The members mean what
 * the specification says; that is why they are type aliases, which need no comment on each member.
 *
 * @see {@link https://spec.openapis.org/oas/v3.1.1.html}
 * @module
 */

import { openApi } from "../../core/openapi/openapi.ts";

/** A JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A JSON Schema (2020-12). */
export type Schema = {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer";
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly default?: string | number;
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
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string | number;
};

/** A header field of a response. */
export type Header = {
  readonly description: string;
  /** Whether every such response has it. */
  readonly required: boolean;
  readonly schema: Schema;
  readonly example?: string | number;
};

/** Points at a part of the document, `#/components/…`. */
export type Reference = {
  readonly $ref: string;
};

/** A body that was really sent. */
export type Example = {
  readonly summary: string;
  readonly value: JsonValue;
};

/** A body in one media type. */
export type MediaType = {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
};

/** Bodies by media type. */
export type Content = Readonly<Record<string, MediaType>>;

/** A response of one status. */
export type ResponseDescription = {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  /** Absent where the response has none. */
  readonly content?: Content;
};

/** A way to say who is calling, as the name of its {@linkcode SecurityScheme}. Any one is enough. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** What a method on a path does. */
export type OperationDescription = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  /** In the place of the document's own; empty where no key is needed. */
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly required: boolean;
    readonly content: Content;
  };
  /** By status, `"200"`. */
  readonly responses: Readonly<Record<string, ResponseDescription>>;
};

/** The operations of a path. */
export type PathItem = {
  readonly get?: OperationDescription;
  readonly post?: OperationDescription;
  readonly options?: OperationDescription;
};

/** A way to say who is calling. */
export type SecurityScheme = {
  readonly type: "http";
  readonly scheme: "bearer";
  readonly description: string;
};

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly contact: { readonly name: string };
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly {
    readonly name: string;
    readonly description: string;
  }[];
  readonly security: readonly SecurityRequirement[];
  /** By path template, `/pets/{petId}`. */
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
};

/** The document of a service with this base URL, as the form that it has. */
export function documentOf(baseUrl?: string): OpenApiDocument {
  return openApi(baseUrl) as unknown as OpenApiDocument;
}
