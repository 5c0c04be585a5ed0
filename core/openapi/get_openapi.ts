/** `getOpenApi`: `GET /openapi.json`, the document itself. */

import type { JsonObject } from "./schemas.ts";
import { field, json, refused } from "./responses.ts";
import type { Operation } from "../operation.ts";

const headers: JsonObject = {
  ETag: field("Names this version of the document (RFC 9110 §8.8.3)."),
  Vary: field("The document is compressed if `Accept-Encoding` allows gzip."),
};

const description: JsonObject = {
  operationId: "getOpenApi",
  summary: "Get this document",
  description:
    "Returns the OpenAPI document of the service, which is this one. It needs no key.",
  tags: ["service"],
  security: [],
  parameters: [{
    name: "If-None-Match",
    in: "header",
    description: "The ETag of the document that you have.",
    schema: { type: "string" },
  }],
  responses: {
    "200": {
      description:
        "The document. It may be stored, and revalidated with `If-None-Match`.",
      headers,
      content: json("OpenApi", {
        examples: {
          document: { summary: "A document", value: { openapi: "3.1.1" } },
        },
      }),
    },
    "304": {
      description:
        "The document is unchanged: `If-None-Match` names this version.",
      headers,
    },
    "400": refused("The `Host` header is malformed."),
  },
};

export const getOpenApi: Operation = {
  method: "GET",
  path: "/openapi.json",
  isPublic: true,
  errors: ["bad_request", "internal_error"],
  run: ({ request }, { document }) => document(request),
  description,
};
