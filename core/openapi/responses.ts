/** Responses in the OpenAPI document. */

import {
  ERROR_STATUS,
  type ErrorCode,
  type Refusal,
  tooManyRequests,
  unavailable,
} from "../http/refusal.ts";
import { missingKey } from "../keys/authenticate.ts";
import type { JsonObject } from "./json_object.ts";

const retryAfter: JsonObject = {
  "Retry-After": {
    description: "Seconds to wait; present exactly when nothing was changed.",
    schema: { type: "integer", format: "int32", minimum: 0 },
  },
};

/** Describes a JSON body by the name of its schema, with an example if there is one. */
export function json(schema: string, example?: JsonObject): JsonObject {
  const $ref = `#/components/schemas/${schema}`;
  return { "application/json": { schema: { $ref }, ...example } };
}

/**
 * Describes an error response. The example is a refusal that the service really sends. It is not
 * one of the named `examples`, because OpenAPI Generator warns of those.
 */
export function refused(
  description: string,
  refusal?: Refusal,
  headers?: JsonObject,
): JsonObject {
  const example = refusal && { example: JSON.parse(refusal.body) };
  return {
    description,
    ...headers && { headers },
    content: json("Error", example),
  };
}

/** The errors to act on that every operation with a key has. */
export const keyErrors: JsonObject = {
  "401": refused("The API key is missing or invalid.", missingKey),
  "429": refused(
    "The API key was used more often than the operator of the service allows.",
    tooManyRequests,
    retryAfter,
  ),
};

/** Describes all errors that an operation does not list, as one response. */
export function otherErrors(codes: readonly ErrorCode[]): JsonObject {
  const list = codes.map((code) => `${ERROR_STATUS[code]} \`${code}\``);
  const description = `Any other error: ${list.join(", ")}.`;
  return codes.includes("service_unavailable")
    ? refused(description, unavailable(1), retryAfter)
    : refused(description);
}
