/** The responses of the contract and their header fields, as the OpenAPI document describes them. */

import type { BaseUrl } from "../http/base_url.ts";
import {
  ERROR_STATUS,
  type ErrorCode,
  internalError,
  type Refusal,
  tooManyRequests,
  unavailable,
} from "../http/refusal.ts";
import { malformedHost } from "../http/target.ts";
import {
  CHALLENGE,
  INVALID_TOKEN_CHALLENGE,
  invalidKey,
  missingKey,
} from "../keys/authenticate.ts";
import { deprecationHeaders } from "../pets/get_pet.ts";
import { nextPage } from "../pets/page.ts";
import { petId } from "../pets/pet.ts";
import type { JsonObject } from "../operation.ts";

/** An error, and messages that it really comes with. */
export interface ErrorExamples {
  readonly code: ErrorCode;
  readonly when: string;
  /** Summary and refusal, by what went wrong. */
  readonly examples: Readonly<Record<string, readonly [string, Refusal]>>;
}

/** A pet. */
export const REX = {
  id: 7,
  name: "Rex",
  categoryId: 1,
  status: "available",
} as const;

/** The refusal that comes before the path is looked at, so that every operation has it. */
export const hostErrors: ErrorExamples = {
  code: "bad_request",
  when: "The `Host` header is malformed.",
  examples: { host: ["Host: a/b", malformedHost] },
};

/** What can go wrong with every operation that needs a key. */
export const commonErrors: readonly ErrorExamples[] = [
  {
    code: "unauthorized",
    when: "The API key is missing or invalid.",
    examples: {
      missing: ["No key was sent", missingKey],
      invalid: ["The key is not valid", invalidKey],
    },
  },
  {
    code: "too_many_requests",
    when:
      "The API key was used more often than the operator of the service allows, if there is a limit. Nothing was changed.",
    examples: { limited: ["Too many requests", tooManyRequests] },
  },
  {
    code: "internal_error",
    when: "Something went wrong in the service.",
    examples: { failure: ["Something nobody expected", internalError] },
  },
];

/** An example of a 503 after which the request can be sent again. */
export const unavailableExample = ["Nothing was changed", unavailable] as const;

/** What can go wrong with every operation that only reads. */
export const storageErrors: ErrorExamples = {
  code: "service_unavailable",
  when: "The storage cannot be reached now. The request can be sent again.",
  examples: { unavailable: unavailableExample },
};

/** Header fields by their name in the document; two fields of one name differ by a prefix. */
export function headers(
  baseUrl: BaseUrl,
  allow: Readonly<Record<string, string>>,
): JsonObject {
  const { sunset, deprecation, link } = deprecationHeaders(baseUrl);
  const seventh = petId(7n);
  return {
    "Cache-Control": constant("no-store", "Responses are not to be stored."),
    "OpenApi-Cache-Control": constant(
      "no-cache",
      "The document may be stored; ask with `If-None-Match` whether it is still the same.",
    ),
    // No example: a document cannot contain its own.
    ETag: {
      description: "Names this version of the document (RFC 9110 §8.8.3).",
      required: true,
      schema: { type: "string", pattern: '^"[^"]+"$' },
    },
    ...mapValues(
      allow,
      (methods) => constant(methods, `The methods of this path: ${methods}.`),
    ),
    "X-Content-Type-Options": constant(
      "nosniff",
      "The body is what its media type says.",
    ),
    "Next-Link": {
      description:
        "Where the next page is (RFC 8288): a reference to resolve against the address of this one. Present exactly when more pets match.",
      required: false,
      schema: { type: "string", pattern: '^<[^<>]*>; rel="next"$' },
      example: `<${baseUrl.page(nextPage({ limit: 2 }, seventh))}>; rel="next"`,
    },
    Location: {
      description:
        "Where the pet is: a reference to resolve against the address of the request.",
      required: true,
      schema: { type: "string", format: "uri-reference" },
      example: baseUrl.pet(seventh),
    },
    "Idempotency-Replayed": {
      ...constant(
        "true",
        "The pet was added before, with the same `Idempotency-Key`.",
      ),
      required: false,
    },
    "WWW-Authenticate": {
      description:
        "How to authenticate (RFC 6750); with `error` if a key was sent and is not valid.",
      required: true,
      schema: { type: "string", enum: [CHALLENGE, INVALID_TOKEN_CHALLENGE] },
      example: CHALLENGE,
    },
    Accept: constant("application/json", "The media type to send."),
    "Accept-Encoding": {
      ...constant(
        "identity",
        "The content coding to send: none. Present if the coding was wrong.",
      ),
      required: false,
    },
    "Retry-After": {
      description:
        "How many seconds to wait before sending the request again; present exactly when nothing was changed.",
      required: false,
      schema: { type: "integer", format: "int32", minimum: 0 },
      example: 1,
    },
    RateLimit: {
      description:
        "How many requests are left (`r`), and in how many seconds there are more (`t`): draft-ietf-httpapi-ratelimit-headers.",
      required: false,
      schema: { type: "string" },
      example: '"default";r=0;t=5',
    },
    "RateLimit-Policy": {
      description:
        "How many requests are allowed (`q`) in how many seconds (`w`): draft-ietf-httpapi-ratelimit-headers.",
      required: false,
      schema: { type: "string" },
      example: '"default";q=100;w=10',
    },
    Sunset: constant(sunset, "When the operation is removed (RFC 8594)."),
    Deprecation: constant(
      deprecation,
      "Since when the operation is deprecated (RFC 9745), in seconds since 1970.",
    ),
    "Successor-Link": constant(link, "What to use instead (RFC 5829)."),
  };
}

const ALWAYS = fields("Cache-Control", "X-Content-Type-Options");

/** Header fields of a response: names in {@linkcode headers}, as "Link" or "Link: Next-Link". */
export function fields(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((text) => {
    const [field = "", name = field] = text.split(": ");
    return [field, { $ref: `#/components/headers/${name}` }];
  }));
}

/** A response with a resource in it. */
export function success(
  description: string,
  { schema, headers = {}, ...rest }: {
    readonly schema: string;
    readonly headers?: JsonObject;
    readonly examples?: JsonObject;
  },
): JsonObject {
  return {
    description,
    headers: { ...ALWAYS, ...headers },
    content: {
      "application/json": {
        schema: { $ref: `#/components/schemas/${schema}` },
        ...rest,
      },
    },
  };
}

/** The error responses of an operation by status. */
export function errors(
  refusals: readonly ErrorExamples[],
): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(refusals.map(({ code, when, examples }) => {
    const status = ERROR_STATUS[code];
    return [
      String(status),
      success(when, {
        schema: "Error",
        headers: ERROR_HEADERS[code] ?? {},
        examples: mapValues(examples, ([summary, { message }]) => ({
          summary,
          value: { code, message, status },
        })),
      }),
    ];
  }));
}

const ERROR_HEADERS: Partial<Record<ErrorCode, JsonObject>> = {
  unauthorized: fields("WWW-Authenticate"),
  unsupported_media_type: fields("Accept", "Accept-Encoding"),
  too_many_requests: fields("Retry-After", "RateLimit", "RateLimit-Policy"),
  service_unavailable: fields("Retry-After"),
};

/** The same responses, each with these header fields too. */
export function withFields(
  responses: Readonly<Record<string, JsonObject>>,
  added: JsonObject,
): Readonly<Record<string, JsonObject>> {
  return mapValues(responses, (response) => ({
    ...response,
    headers: { ...response.headers as JsonObject, ...added },
  }));
}

function mapValues<T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Readonly<Record<string, U>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(value)]),
  );
}

function constant(value: string, description: string): JsonObject {
  return {
    description,
    required: true,
    schema: { type: "string", const: value },
    example: value,
  };
}
