/** Responses in the OpenAPI document. */

import { type BodyLimits, ERROR_STATUS, type ErrorCode } from "../answer.ts";
import {
  missingKey,
  type Refusal,
  tooManyRequests,
  unavailable,
} from "../errors.ts";
import type { JsonObject } from "./schemas.ts";

/** The header fields that several responses have. */
export const headers: JsonObject = {
  "X-Request-Id": field(
    "Identifies the request in the server's log, if it keeps one.",
  ),
  RateLimit: field(
    'The remaining quota (draft-ietf-httpapi-ratelimit-headers), such as `"key";r=4;t=10`: 4 requests in the next 10 s. On every answer that was counted, if the server limits rates.',
  ),
  "RateLimit-Policy": field(
    'The quota, such as `"key";q=100;w=10`: 100 requests in 10 s. On every answer that was counted, if the server limits rates.',
  ),
  "Retry-After": {
    description: "Seconds to wait; present exactly when nothing was changed.",
    schema: { type: "integer", format: "int32", minimum: 0 },
  },
  "WWW-Authenticate": field(
    'How to send a key (RFC 6750 §3); with `error="invalid_token"` if one was sent.',
  ),
  Allow: field("The methods of the path (RFC 9110 §10.2.1)."),
  Accept: field("The media type of the body to send (RFC 9110 §15.5.16)."),
  "Accept-Encoding": field(
    "Present if the body was sent with a `Content-Encoding`: the one to use.",
  ),
  Deprecation: field("Since when the operation is deprecated (RFC 9745).", {
    pattern: "^@[0-9]+$",
  }),
  Sunset: field("When the operation is to be removed (RFC 8594)."),
};

/** Describes a header field; `form` says more about its value than that it is a string. */
export function field(description: string, form: JsonObject = {}): JsonObject {
  return { description, schema: { type: "string", ...form } };
}

/** References to header fields of the document. */
export function headerRefs(names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Describes a JSON body by the name of its schema, with `example` or `examples` if given. */
export function json(schema: string, examples?: JsonObject): JsonObject {
  const $ref = `#/components/schemas/${schema}`;
  return { "application/json": { schema: { $ref }, ...examples } };
}

/**
 * Describes an error response. The example is a refusal that the service really sends. It is not
 * among named `examples`, because OpenAPI Generator warns about those.
 */
export function refused(
  description: string,
  refusal?: Refusal,
  names: readonly string[] = [],
): JsonObject {
  const example = refusal && { example: JSON.parse(refusal.body) };
  return {
    description,
    ...names.length > 0 && { headers: headerRefs(names) },
    content: json("Error", example),
  };
}

/**
 * Describes the errors that mean the same in all operations, and the other codes as one response,
 * `default`.
 */
export function sharedErrors(
  codes: readonly ErrorCode[],
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Readonly<Record<string, JsonObject>> {
  const shared: Partial<Record<ErrorCode, JsonObject>> = {
    unauthorized: refused(
      "The API key is missing or invalid.",
      missingKey,
      ["WWW-Authenticate"],
    ),
    method_not_allowed: refused(
      "The path does not have this method.",
      undefined,
      ["Allow"],
    ),
    request_timeout: refused(
      `The body did not arrive within ${bodyTimeout / 1000} s.`,
    ),
    payload_too_large: refused(
      `The body has more than ${maxBodyBytes} bytes, or came in too many tiny pieces.`,
    ),
    unsupported_media_type: refused(
      "The body is not JSON in UTF-8, or has a `Content-Encoding`.",
      undefined,
      ["Accept", "Accept-Encoding"],
    ),
    too_many_requests: refused(
      "The API key, or the address of a caller without one, was used more often than the operator of the service allows.",
      tooManyRequests,
      ["Retry-After"],
    ),
    service_unavailable: refused(
      "The storage cannot be reached, or the server is shutting down.",
      unavailable(1),
      ["Retry-After"],
    ),
  };
  const responses: Record<string, JsonObject> = {};
  const others: string[] = [];
  for (const code of codes) {
    const response = shared[code];
    if (response) responses[ERROR_STATUS[code]] = response;
    else others.push(`${ERROR_STATUS[code]} \`${code}\``);
  }
  responses.default = refused(`Any other error: ${others.join(", ")}.`);
  return responses;
}
