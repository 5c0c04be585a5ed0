/** `listPets`: `GET /pets`. */

import { type Answer, jsonAnswer } from "../answer.ts";
import { Refusal } from "../errors.ts";
import type { JsonObject } from "../openapi/schemas.ts";
import { petsExamples } from "../openapi/examples.ts";
import { json, refused } from "../openapi/responses.ts";
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  MIN_LIMIT,
  nextPage,
  parsePage,
} from "../pets/page.ts";
import { petsToJson } from "../pets/pet.ts";
import {
  type Call,
  COMMON_ERRORS,
  type Context,
  type Operation,
} from "../operation.ts";

/**
 * Answers 200 with a page of pets as a bare array, ascending by id, and with
 * `Link: <…>; rel="next"` (RFC 8288) exactly when more pets match; 400 for a wrong parameter.
 */
async function run(
  { query }: Call,
  { storage, baseUrl }: Context,
): Promise<Answer> {
  const page = parsePage(query);
  if (page instanceof Refusal) return page;
  const { pets, last } = await storage.list(page);
  const body = petsToJson(pets);
  if (last === undefined) return jsonAnswer(200, body);
  const next = `?${nextPage(page, last)}`;
  const link = `<${baseUrl.link(`/pets${next}`, next)}>; rel="next"`;
  return jsonAnswer(200, body, { link });
}

const limit: JsonObject = {
  name: "limit",
  in: "query",
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
  description: "Return only pets with this availability status.",
  schema: { $ref: "#/components/schemas/PetStatus" },
};
const after: JsonObject = {
  name: "after",
  in: "query",
  description:
    "Return only pets whose id is greater, as the header Link of the previous page says. Any 64-bit integer in canonical decimal form.",
  schema: { type: "integer", format: "int64" },
};

const description: JsonObject = {
  operationId: "listPets",
  summary: "List all animals",
  description:
    "Returns a page of pets, ascending by id, which is the order in which they were added. Each parameter may be given once.",
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
      content: json("Pets", petsExamples),
    },
    "400": refused(
      "A parameter is out of bounds, given twice, or not in canonical form; the message names each one. Or the `Host` header is malformed.",
      parsePage("limit=0") as Refusal,
    ),
  },
};

export const listPets: Operation = {
  method: "GET",
  path: "/pets",
  errors: COMMON_ERRORS,
  run,
  description,
};
