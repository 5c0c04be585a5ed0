/**
 * The responses of the contract and their header fields, as the OpenAPI document describes them.
 *
 * @module
 */

import { CHALLENGE, INVALID_TOKEN_CHALLENGE } from "../keys/authenticate.ts";
import type { BaseUrl } from "../http/base_url.ts";
import { ERROR_STATUS, type ErrorCode } from "../http/refusal.ts";
import { deprecationHeaders } from "../pets/get_pet.ts";
import type {
  Example,
  Header,
  JsonValue,
  Reference,
  ResponseDescription,
} from "./document.ts";
import { nextPage } from "../pets/page.ts";
import { petId } from "../pets/pet.ts";

/** An error's code, and messages that it really comes with, by what went wrong. */
export interface ErrorExamples {
  readonly code: ErrorCode;
  /** When the error is the answer. */
  readonly when: string;
  /** Summary and message of each example. */
  readonly examples: Readonly<Record<string, readonly [string, string]>>;
}

/** The methods of each path (RFC 9110 §10.2.1), by the name of its `Allow` in the document. */
export const ALLOW = {
  "Pets-Allow": "GET, HEAD, POST, OPTIONS",
  "Pet-Allow": "GET, HEAD, OPTIONS",
  "OpenApi-Allow": "GET, HEAD, OPTIONS",
} as const;

/** Header fields by their name in the document; where two fields share one name, a word is added. */
export function headers(baseUrl: BaseUrl): Readonly<Record<string, Header>> {
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
      ALLOW,
      (methods) => constant(methods, `The methods of this path: ${methods}.`),
    ),
    "X-Content-Type-Options": constant(
      "nosniff",
      "The body is what its media type says.",
    ),
    "Next-Link": {
      description:
        "Where the next page is (RFC 8288): a reference to resolve against the address of this one. There exactly when more animals match.",
      required: false,
      schema: { type: "string", pattern: '^<[^<>]*>; rel="next"$' },
      example: `<${baseUrl.page(nextPage({ limit: 2 }, seventh))}>; rel="next"`,
    },
    Location: {
      description:
        "Where the animal is: a reference to resolve against the address of the request.",
      required: true,
      schema: { type: "string", format: "uri-reference" },
      example: baseUrl.pet(seventh),
    },
    "WWW-Authenticate": {
      description:
        "How to authenticate (RFC 6750); with `error` where a key was sent, and is not valid.",
      required: true,
      schema: { type: "string", enum: [CHALLENGE, INVALID_TOKEN_CHALLENGE] },
      example: CHALLENGE,
    },
    Accept: constant("application/json", "The media type to send."),
    "Accept-Encoding": {
      ...constant(
        "identity",
        "The content coding to send: none. There where the coding was wrong.",
      ),
      required: false,
    },
    "Retry-After": {
      description:
        "How many seconds to wait before sending the request again; there exactly when nothing was changed.",
      required: false,
      schema: { type: "integer", format: "int32", minimum: 0 },
      example: 1,
    },
    Sunset: constant(sunset, "When the operation is removed (RFC 8594)."),
    Deprecation: constant(
      deprecation,
      "Since when the operation is deprecated (RFC 9745), in seconds since 1970.",
    ),
    "Successor-Link": constant(link, "What to use instead (RFC 5829)."),
  };
}

const ALWAYS = fields({
  "Cache-Control": "Cache-Control",
  "X-Content-Type-Options": "X-Content-Type-Options",
});

/** The header fields of a response by field name; values are names in {@linkcode headers}. */
export function fields(
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    Object.entries(names).map(([field, name]) => [
      field,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
}

/** A response with a resource in it. */
export function success(
  description: string,
  { schema, headers = {}, ...rest }: {
    readonly schema: string;
    readonly headers?: Readonly<Record<string, Reference>>;
    readonly examples?: Readonly<Record<string, Example>>;
  },
): ResponseDescription {
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
): Readonly<Record<string, ResponseDescription>> {
  return Object.fromEntries(refusals.map(({ code, when, examples }) => {
    const status = ERROR_STATUS[code];
    return [
      String(status),
      success(when, {
        schema: "Error",
        headers: ERROR_HEADERS[code] ?? {},
        examples: mapValues(examples, ([summary, message]) => ({
          summary,
          value: { code, message, status } satisfies JsonValue,
        })),
      }),
    ];
  }));
}

const ERROR_HEADERS: Partial<
  Record<ErrorCode, Readonly<Record<string, Reference>>>
> = {
  unauthorized: fields({ "WWW-Authenticate": "WWW-Authenticate" }),
  unsupported_media_type: fields({
    Accept: "Accept",
    "Accept-Encoding": "Accept-Encoding",
  }),
  service_unavailable: fields({ "Retry-After": "Retry-After" }),
};

/** The same responses, each with these header fields too. */
export function withFields(
  responses: Readonly<Record<string, ResponseDescription>>,
  added: Readonly<Record<string, Reference>>,
): Readonly<Record<string, ResponseDescription>> {
  return mapValues(responses, (response) => ({
    ...response,
    headers: { ...response.headers, ...added },
  }));
}

/** The same names, each with what its value is changed into. */
export function mapValues<T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Readonly<Record<string, U>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, change(value)]),
  );
}

function constant(value: string, description: string): Header {
  return {
    description,
    required: true,
    schema: { type: "string", const: value },
    example: value,
  };
}
