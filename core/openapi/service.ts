/**
 * What the service tells of itself, as the OpenAPI document describes it: the document, and what each
 * path has by the rules of HTTP, which are `OPTIONS`, the refusal of other methods, and the refusal
 * of a malformed `Host`.
 *
 * Nothing here reads a key or asks the storage, so there is no 401, no 500 and no 503.
 *
 * @module
 */

import type { OperationDescription, Parameter, PathItem } from "./document.ts";
import {
  ALLOW,
  type ErrorExamples,
  errors,
  fields,
  mapValues,
  success,
  withFields,
} from "./responses.ts";

/** The tag of the operations here. */
export const SERVICE_TAG = "service";

/** The refusal that comes before the path is looked at, so that every operation has it. */
export const malformedHost: ErrorExamples = {
  code: "bad_request",
  when: "The `Host` header is malformed.",
  examples: {
    host: [
      "Host: a/b",
      "Cannot read the request: the Host header must be a host name or address, with or without a port",
    ],
  },
};

const ifNoneMatch: Parameter = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The `ETag` of the document that you have.",
  schema: { type: "string" },
};

/** `GET /openapi.json`. */
export const getOpenApi: OperationDescription = {
  operationId: "getOpenApi",
  summary: "Get this document",
  description:
    "Returns the OpenAPI document of the service, which is this one. It needs no key.",
  tags: [SERVICE_TAG],
  security: [],
  parameters: [ifNoneMatch],
  responses: {
    "200": success("The document.", {
      schema: "OpenApi",
      headers: fields({
        "Cache-Control": "OpenApi-Cache-Control",
        ETag: "ETag",
      }),
    }),
    "304": {
      description:
        "You have the document: it is the one that `If-None-Match` names.",
      headers: fields({
        "Cache-Control": "OpenApi-Cache-Control",
        ETag: "ETag",
      }),
    },
    ...errors([malformedHost]),
  },
};

/**
 * The same operations with what their path has by the rules of HTTP: each declares the 405 that
 * another method gets, and `OPTIONS` is one more operation.
 */
export function withHttpRules(
  operations: PathItem,
  { path, allow, ...options }: {
    /** The path as messages name it, with its base. */
    readonly path: string;
    /** The `Allow` of the path. */
    readonly allow: keyof typeof ALLOW;
    readonly operationId: string;
    /** The parameters of the path, for `OPTIONS`. */
    readonly parameters?: readonly Parameter[];
  },
): PathItem {
  const allowed = fields({ Allow: allow });
  const methodNotAllowed = withFields(
    errors([{
      code: "method_not_allowed",
      when: "Another method was used on this path.",
      examples: {
        method: [
          "A method that the path does not have",
          `Cannot use this method on ${path}: it has ${ALLOW[allow]}`,
        ],
      },
    }]),
    allowed,
  );
  return {
    ...mapValues(operations, (operation) => ({
      ...operation,
      responses: { ...operation.responses, ...methodNotAllowed },
    })),
    options: {
      summary: "Get the methods of this path",
      description:
        "Returns the methods of this path in `Allow`. It needs no key.",
      tags: [SERVICE_TAG],
      security: [],
      ...options,
      responses: {
        "204": { description: "The methods are in `Allow`.", headers: allowed },
        ...errors([malformedHost]),
      },
    },
  };
}
