/** `listPets` in the OpenAPI document. */

import { parseQuery } from "../http/query.ts";
import type { Refusal } from "../http/refusal.ts";
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  MIN_LIMIT,
  parsePage,
} from "../pets/page.ts";
import type { JsonObject } from "../operation.ts";
import {
  commonErrors,
  errors,
  fields,
  hostErrors,
  REX,
  storageErrors,
  success,
} from "./responses.ts";

const limit: JsonObject = {
  name: "limit",
  in: "query",
  required: false,
  description:
    "The most pets to return, in canonical decimal form: no sign, no leading zeros, no exponent.",
  schema: {
    type: "integer",
    format: "int32",
    minimum: MIN_LIMIT,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  },
};
const status: JsonObject = {
  name: "status",
  in: "query",
  required: false,
  description: "Return only pets with this availability status.",
  schema: { $ref: "#/components/schemas/PetStatus" },
};
const after: JsonObject = {
  name: "after",
  in: "query",
  required: false,
  description:
    "Return only pets whose `id` is greater, as the header `Link` of the page before says. Any 64-bit integer in canonical decimal form.",
  schema: { type: "integer", format: "int64" },
};
/** The operation, without the parts that all operations share. */
export const listPetsDescription: JsonObject = {
  operationId: "listPets",
  summary: "List all animals",
  description:
    "Returns a page of pets, ascending by `id`, which is the order in which they were added. Each parameter may be given once.",
  tags: ["animals"],
  parameters: [limit, status, after],
  responses: {
    "200": success(
      "A page of pets. The header `Link` says where the next page is, if there is one.",
      {
        schema: "Pets",
        headers: fields("Link: Next-Link"),
        examples: {
          page: { summary: "A page", value: [REX] },
          end: { summary: "No pet matches", value: [] },
        },
      },
    ),
    ...errors([
      {
        code: "bad_request",
        when:
          "A parameter is out of bounds, given twice, or not in canonical form; the message names each one. Or the `Host` header is malformed.",
        examples: {
          bounds: ["limit=0", refused("limit=0")],
          status: ["status=gone", refused("status=gone")],
          ...hostErrors.examples,
        },
      },
      ...commonErrors,
      storageErrors,
    ]),
  },
};

function refused(query: string): Refusal {
  return parsePage(parseQuery(query)) as Refusal;
}
