/**
 * The contract as data: an OpenAPI 3.1 document of the service.
 *
 * It declares every response to every path that it has. The operations of the contract are under the
 * tag `animals`; `OPTIONS` and the document itself are under a tag of their own, so that whoever
 * generates a client can leave them out. Two things are said in words: `HEAD`, which is `GET` without
 * the body by the rules of HTTP, and the 404 of a path that does not exist, which no document can have.
 *
 * `tests/laws/openapi_test.ts` holds the document and the running service against each other.
 *
 * @module
 */

import { type BaseUrl, parseBaseUrl } from "../http/base_url.ts";
import type {
  OpenApiDocument,
  OperationDescription,
  Parameter,
} from "./document.ts";
import {
  type ErrorExamples,
  errors,
  fields,
  headers,
  success,
  withFields,
} from "./responses.ts";
import { OPENAPI_VERSION, schemas } from "./schemas.ts";
import {
  getOpenApi,
  malformedHost,
  SERVICE_TAG,
  withHttpRules,
} from "./service.ts";
import { DEFAULT_LIMIT, MAX_LIMIT, MIN_LIMIT } from "../pets/page.ts";

const DESCRIPTION = `
**Key.** Every operation on animals needs an API key, in the header \`Authorization: Bearer <API_KEY>\`.

**Integers.** \`id\`, \`categoryId\` and \`after\` are 64-bit integers, exact to the last digit, and JSON
numbers in bodies. JavaScript's \`JSON.parse\` rounds those beyond 2^53: read them with a parser that
does not.

**Pages.** Follow the header \`Link\` with \`rel="next"\` until a response has none. Such a walk sees every
animal that existed when it began exactly once, in order.

**Errors.** Every error has a body of \`code\`, \`message\` and \`status\`. Branch on \`code\`; \`message\` is for
people. A refusal (4xx) has changed nothing.

**Sending again.** To list or to get can be repeated at will. A \`createPet\` that was answered 503 with
\`Retry-After\` has changed nothing and can be sent again. After a 500, a 503 without \`Retry-After\`, or no
answer at all, the animal may have been added: look for it with \`after\` and the last \`id\` that you know
before sending it again.

**All paths.** \`HEAD\` is answered as \`GET\`, without the body. A path that is not described here is a 404
Error. A server that is shutting down may answer any request with a 503 Error and \`Retry-After\`; nothing
was changed. Query parameters and members of a body that are not described here are ignored.
`.trim();

/** What has no effect but can go wrong with every operation on animals. */
const commonErrors: readonly ErrorExamples[] = [
  {
    code: "unauthorized",
    when: "The API key is missing or invalid.",
    examples: {
      missing: [
        "No key was sent",
        'API key is missing: send it in the header "Authorization: Bearer <API_KEY>"',
      ],
      invalid: [
        "The key is not valid",
        "API key is invalid: it is unknown or revoked",
      ],
    },
  },
  {
    code: "internal_error",
    when: "Something went wrong in the service.",
    examples: {
      failure: [
        "Something nobody expected",
        "Something went wrong on our side",
      ],
    },
  },
];

const unavailable = [
  "Nothing was changed",
  "Cannot reach the storage now: nothing was changed, and the request can be sent again",
] as const;

const storageUnavailable: ErrorExamples = {
  code: "service_unavailable",
  when: "The storage cannot be reached now. The request can be sent again.",
  examples: { unavailable },
};

const limit: Parameter = {
  name: "limit",
  in: "query",
  required: false,
  description:
    "The most animals to return, in canonical decimal form: no sign, no leading zeros, no exponent.",
  schema: {
    type: "integer",
    format: "int32",
    minimum: MIN_LIMIT,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  },
};
const status: Parameter = {
  name: "status",
  in: "query",
  required: false,
  description: "Return only animals with this availability status.",
  schema: { $ref: "#/components/schemas/PetStatus" },
};
const after: Parameter = {
  name: "after",
  in: "query",
  required: false,
  description:
    "Return only animals whose `id` is greater, as the header `Link` of the page before says. Any 64-bit integer in canonical decimal form.",
  schema: { type: "integer", format: "int64" },
};
const petId: Parameter = {
  name: "petId",
  in: "path",
  required: true,
  description:
    "Identifier of the animal to retrieve. Anything but a positive 64-bit integer in canonical decimal form is the `id` of no animal: 404.",
  schema: { type: "integer", format: "int64" },
  example: 7,
};
const anyPetId: Parameter = {
  name: "petId",
  in: "path",
  required: true,
  description: "Any text: no animal is looked for.",
  schema: { type: "string", minLength: 1 },
  example: "7",
};

const rex = { id: 7, name: "Rex", categoryId: 1, status: "available" } as const;

const listPets: OperationDescription = {
  operationId: "listPets",
  summary: "List all animals",
  description:
    "Returns a page of animals, ascending by `id`, which is the order in which they were added. Each parameter may be given once.",
  tags: ["animals"],
  parameters: [limit, status, after],
  responses: {
    "200": success(
      "A page of animals. The header `Link` says where the next page is, if there is one.",
      {
        schema: "Pets",
        headers: fields({ Link: "Next-Link" }),
        examples: {
          page: { summary: "A page", value: [rex] },
          end: { summary: "No animal matches", value: [] },
        },
      },
    ),
    ...errors([
      {
        code: "bad_request",
        when:
          "A parameter is out of bounds, given twice, or not in canonical form; the message names each one. Or the `Host` header is malformed.",
        examples: {
          bounds: [
            "limit=0",
            'Cannot list pets: limit must be one integer from 1 to 100, not "0"',
          ],
          status: [
            "status=gone",
            'Cannot list pets: status must be one of available, pending, sold, not "gone"',
          ],
          ...malformedHost.examples,
        },
      },
      ...commonErrors,
      storageUnavailable,
    ]),
  },
};

const createPet: OperationDescription = {
  operationId: "createPet",
  summary: "Add an animal",
  description:
    "Adds an animal and gives it an `id`. A 201 is a promise: the animal is stored durably, and every listing that starts afterwards sees it. The same animal sent twice is two animals.",
  tags: ["animals"],
  requestBody: {
    description:
      "The animal, in UTF-8, without a `Content-Encoding`, and at most 64 KiB where the service is not set up otherwise.",
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/NewPet" },
        examples: {
          short: {
            summary: "Only what is required",
            value: { name: "Rex", categoryId: 1 },
          },
          full: {
            summary: "With a status",
            value: { name: "Zoë", categoryId: 2, status: "pending" },
          },
        },
      },
    },
  },
  responses: {
    "201": success("The animal is added.", {
      schema: "Pet",
      headers: fields({ Location: "Location" }),
      examples: { added: { summary: "The animal with its id", value: rex } },
    }),
    ...errors([
      {
        code: "bad_request",
        when:
          "The body is missing, is not JSON in UTF-8, lacks required members, or has invalid values; the message names each member and what is wrong with it. Or the `Host` header is malformed.",
        examples: {
          members: [
            "Members are missing or wrong",
            "Cannot create pet: name is required; categoryId must be an integer from -9223372036854775808 to 9223372036854775807",
          ],
          missing: [
            "There is no body",
            "Cannot read the body: it is missing",
          ],
          json: [
            "The body is not JSON",
            "Cannot read the body: it is not valid JSON",
          ],
          ...malformedHost.examples,
        },
      },
      {
        code: "request_timeout",
        when: "The body stopped arriving.",
        examples: {
          late: [
            "The body is late",
            "Cannot read the body: it did not arrive in time",
          ],
        },
      },
      {
        code: "payload_too_large",
        when: "The body is too large. The rest of it is not read.",
        examples: {
          large: [
            "More than 64 KiB",
            "Cannot read the body: it has more than 65536 bytes",
          ],
        },
      },
      {
        code: "unsupported_media_type",
        when:
          "The body is of another media type than JSON, or has a `Content-Encoding`.",
        examples: {
          type: [
            "Not JSON",
            "Cannot read the body: its Content-Type must be application/json, in UTF-8",
          ],
          coding: [
            "Compressed",
            "Cannot read the body: it must be sent without a Content-Encoding",
          ],
        },
      },
      ...commonErrors,
      {
        code: "service_unavailable",
        when:
          "The storage cannot be reached now. With `Retry-After` nothing was changed, and the request can be sent again. Without it the animal may have been added: list the animals first.",
        examples: {
          unavailable,
          unknown: [
            "The animal may have been added",
            "Cannot tell whether the pet was added: the storage did not confirm it. List the pets before sending it again",
          ],
        },
      },
    ]),
  },
};

const getPet: OperationDescription = {
  operationId: "getPet",
  summary: "Get an animal",
  description:
    "Returns one animal. Deprecated, and announced to be removed on 5 December 2030: use `GET /pets` with a `status` filter instead.",
  tags: ["animals"],
  deprecated: true,
  parameters: [petId],
  responses: {
    // Neither this nor the 405 has Sunset: they come before the operation is known.
    ...errors([malformedHost]),
    ...withFields(
      {
        "200": success("The animal.", {
          schema: "Pet",
          examples: { pet: { summary: "An animal", value: rex } },
        }),
        ...errors([
          {
            code: "not_found",
            when: "The requested animal could not be found.",
            examples: {
              unknown: [
                "No such animal",
                'Cannot get pet: there is none with the id "8"',
              ],
            },
          },
          ...commonErrors,
          storageUnavailable,
        ]),
      },
      fields({
        Sunset: "Sunset",
        Deprecation: "Deprecation",
        Link: "Successor-Link",
      }),
    ),
  },
};

/**
 * Makes the OpenAPI 3.1 document of a service with this `baseUrl`, as `GET {baseUrl}/openapi.json`
 * answers it.
 *
 * ```ts
 * import { openApi } from "../../mod.ts";
 * import assert from "node:assert/strict";
 *
 * const document = openApi("https://api.example.com/v1");
 * assert.deepEqual(document.servers, [{ url: "https://api.example.com/v1" }]);
 * assert.equal(document.paths["/pets"]?.get?.operationId, "listPets");
 * ```
 *
 * @param baseUrl as the option of `createHandler`. Default: `/v1`.
 * @throws {TypeError} where it is neither a path nor an absolute http(s) URL in normal form.
 */
export function openApi(baseUrl = "/v1"): OpenApiDocument {
  const base = parseBaseUrl(baseUrl);
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: "Pet store",
      version: "1.0.0",
      summary:
        "Lists and adds animals, also called pets, over HTTP with JSON bodies.",
      description: DESCRIPTION,
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl(baseUrl, base) }],
    tags: [{
      name: "animals",
      description: "The animals, also called pets, that the service keeps.",
    }, {
      name: SERVICE_TAG,
      description: "What the service tells of itself, without a key.",
    }],
    security: [{ apiKey: [] }],
    paths: {
      "/pets": withHttpRules({ get: listPets, post: createPet }, {
        path: `${base.path}/pets`,
        allow: "Pets-Allow",
        operationId: "optionsPets",
      }),
      "/pets/{petId}": withHttpRules({ get: getPet }, {
        path: `${base.path}/pets/{petId}`,
        allow: "Pet-Allow",
        operationId: "optionsPet",
        parameters: [anyPetId],
      }),
      "/openapi.json": withHttpRules({ get: getOpenApi }, {
        path: `${base.path}/openapi.json`,
        allow: "OpenApi-Allow",
        operationId: "optionsOpenApi",
      }),
    },
    components: {
      schemas,
      headers: headers(base),
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "An API key, which the operator of the service issues.",
        },
      },
    },
  };
}

/** A URL that a path such as `/pets` is put behind; tools take a lone `/` away themselves. */
function serverUrl(baseUrl: string, { path }: BaseUrl): string {
  return baseUrl.startsWith("/") ? path || "/" : new URL(baseUrl).origin + path;
}
