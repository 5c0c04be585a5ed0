/** What the OpenAPI document says of each operation, as an Operation Object. */

import { invalid, petNotFound, reusedIdempotencyKey } from "../errors.ts";
import type { Context, Operation } from "../operation.ts";
import { KEY_PATTERN } from "../pets/idempotency_key.ts";
import { parseNewPet } from "../pets/new_pet.ts";
import {
  DEFAULT_LIMIT,
  MAX_LIMIT,
  MIN_LIMIT,
  parsePage,
} from "../pets/page.ts";
import { newPetExamples, petExamples, petsExamples } from "./examples.ts";
import { field, headerRefs, json, refused } from "./responses.ts";
import type { JsonObject } from "./schemas.ts";

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

const ofListPets: JsonObject = {
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
      invalid("list pets", parsePage("limit=0")),
    ),
  },
};

const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A key of your own for this pet, such as a new UUID: 1 to 255 visible ASCII characters, in quotes or bare. Sent again with an equal pet, while the service keeps the key, it adds nothing and gets the same 201. It belongs to your API key.",
  schema: { type: "string", pattern: KEY_PATTERN },
};

const location = field(
  "Where the pet is: a reference to resolve against the address of the request.",
  { format: "uri-reference" },
);
const linkToGetPet: JsonObject = {
  getPet: {
    description: "Get the pet that was added.",
    operationId: "getPet",
    parameters: { petId: "$response.body#/id" },
  },
};

const ofCreatePet = (hasGetPet: boolean): JsonObject => ({
  operationId: "createPet",
  summary: "Add an animal",
  description:
    "Adds a pet and gives it an id. A 201 is a promise: the pet is stored durably, and every listing that starts afterwards sees it. Sending a pet twice adds two pets, unless both requests have the same Idempotency-Key.",
  tags: ["animals"],
  parameters: [idempotencyKey],
  requestBody: {
    description: "The pet, in UTF-8, without a Content-Encoding.",
    required: true,
    content: json("NewPet", newPetExamples),
  },
  responses: {
    "201": {
      description: "The pet is added.",
      headers: {
        ...hasGetPet && { Location: location },
        "Idempotent-Replayed": field(
          "`true` if the pet was added before, with the same `Idempotency-Key`.",
        ),
      },
      content: json("Pet", petExamples),
      ...hasGetPet && { links: linkToGetPet },
    },
    "400": refused(
      "The body is missing, is not JSON in UTF-8, lacks required members, or has invalid values; the message names each member and what is wrong with it. Or the header `Idempotency-Key` or `Host` is malformed.",
      invalid("create pet", parseNewPet({ categoryId: null })),
    ),
    "422": refused(
      "The `Idempotency-Key` was sent before with another pet.",
      reusedIdempotencyKey,
    ),
  },
});

const ofGetPet: JsonObject = {
  operationId: "getPet",
  summary: "Get an animal",
  description:
    "Returns one pet. Deprecated, and planned to be removed on 5 December 2030: use GET /pets with a status filter instead. Its responses say so too, in Deprecation, Sunset and Link.",
  tags: ["animals"],
  deprecated: true,
  parameters: [{
    name: "petId",
    in: "path",
    required: true,
    description:
      "Identifier of the pet to retrieve. Anything but a positive 64-bit integer in canonical decimal form cannot be the id of a pet: 404.",
    schema: { type: "integer", format: "int64" },
    example: 1,
  }],
  responses: {
    "200": { description: "The pet.", content: json("Pet", petExamples) },
    "404": refused(
      "The requested animal could not be found.",
      petNotFound("8"),
    ),
  },
};

/** The header fields of every response of `getPet`. */
const deprecation: JsonObject = {
  ...headerRefs(["Deprecation", "Sunset"]),
  Link: field(
    'What replaces the operation (RFC 5829 §3.2), such as `<../pets>; rel="successor-version"`.',
    { pattern: '^<[^<>]*>; rel="successor-version"$' },
  ),
};

const documentHeaders: JsonObject = {
  ETag: field("Names this version of the document (RFC 9110 §8.8.3)."),
  Vary: field("The document is compressed if `Accept-Encoding` allows gzip."),
};

const ofGetOpenApi: JsonObject = {
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
      headers: documentHeaders,
      content: json("OpenApi", {
        examples: {
          document: { summary: "A document", value: { openapi: "3.1.1" } },
        },
      }),
    },
    "304": {
      description:
        "The document is unchanged: `If-None-Match` names this version.",
      headers: documentHeaders,
    },
    "400": refused("The `Host` header is malformed."),
  },
};

/** Describes an operation, without the parts that all operations share. */
export function describeOperation(
  { id }: Operation,
  { hasGetPet }: Pick<Context, "hasGetPet">,
): JsonObject {
  switch (id) {
    case "listPets":
      return ofListPets;
    case "createPet":
      return ofCreatePet(hasGetPet);
    case "getPet":
      return ofGetPet;
    case "getOpenApi":
      return ofGetOpenApi;
  }
}

/** Describes the header fields of all responses of an operation, except 405. */
export function describeFields({ id }: Operation): JsonObject {
  return id === "getPet" ? deprecation : {};
}
