/** `getOpenApi`, the document itself, in the OpenAPI document. */

import type { JsonObject } from "../operation.ts";
import { fields, success } from "./responses.ts";

/** The tag of the operations by which the service describes itself. */
export const SERVICE_TAG = "service";

const headers = fields("Cache-Control: OpenApi-Cache-Control", "ETag");

/** The operation, without the parts that all operations share. */
export const getOpenApiDescription: JsonObject = {
  operationId: "getOpenApi",
  summary: "Get this document",
  description:
    "Returns the OpenAPI document of the service, which is this one. It needs no key.",
  tags: [SERVICE_TAG],
  security: [],
  parameters: [{
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The `ETag` of the document that you have.",
    schema: { type: "string" },
  }],
  responses: {
    "200": success("The document.", { schema: "OpenApi", headers }),
    "304": {
      description:
        "You have the document: it is the one that `If-None-Match` names.",
      headers,
    },
  },
};
