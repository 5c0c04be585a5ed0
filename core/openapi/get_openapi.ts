/** `getOpenApi`, the document itself, in the OpenAPI document. */

import type { JsonObject } from "../operation.ts";
import { json, refused } from "./responses.ts";

const headers: JsonObject = {
  ETag: {
    description: "Names this version of the document (RFC 9110 §8.8.3).",
    schema: { type: "string", pattern: '^"[^"]+"$' },
  },
};

/** The operation, without the parts that all operations share. */
export const getOpenApiDescription: JsonObject = {
  operationId: "getOpenApi",
  summary: "Get this document",
  description:
    "Returns the OpenAPI document of the service, which is this one. It needs no key.",
  tags: ["service"],
  security: [],
  parameters: [{
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The `ETag` of the document that you have.",
    schema: { type: "string" },
  }],
  responses: {
    "200": {
      description:
        "The document. It may be stored: ask with `If-None-Match` whether it is still the same.",
      headers,
      content: json("OpenApi"),
    },
    "304": {
      description:
        "You have the document: it is the one that `If-None-Match` names.",
      headers,
    },
    "400": refused("The `Host` header is malformed."),
  },
};
