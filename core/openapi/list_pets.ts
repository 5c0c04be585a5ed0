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
import { json, keyErrors, refused, REX } from "./responses.ts";

const limit: JsonObject = {
  name: "limit",
  in: "query",
  required: false,
  description:
    "How many pets to return at most, in canonical decimal form: no sign, no leading zeros, no exponent.",
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
    "Return only pets whose `id` is greater, as the header `Link` of the previous page says. Any 64-bit integer in canonical decimal form.",
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
    "200": {
      description:
        "A page of pets. The header `Link` says where the next page is, if there is one.",
      headers: {
        Link: {
          description:
            'Where the next page is (RFC 8288), such as `<?limit=20&after=40>; rel="next"`: a reference to resolve against the address of this one. Present exactly when more pets match.',
          schema: { type: "string", pattern: '^<[^<>]*>; rel="next"$' },
        },
      },
      content: json("Pets", { page: [REX], end: [] }),
    },
    "400": refused(
      "A parameter is out of bounds, given twice, or not in canonical form; the message names each one. Or the `Host` header is malformed.",
      {
        bounds: parsePage(parseQuery("limit=0")) as Refusal,
        status: parsePage(parseQuery("status=gone")) as Refusal,
      },
    ),
    ...keyErrors,
  },
};
