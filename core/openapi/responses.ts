/** Parts of the OpenAPI document that the responses of several operations share. */

import {
  ERROR_STATUS,
  type ErrorCode,
  type Refusal,
  tooManyRequests,
  unavailable,
} from "../http/refusal.ts";
import { invalidKey, missingKey } from "../keys/authenticate.ts";
import type { JsonObject } from "./json_object.ts";

export const REX = {
  id: 7,
  name: "Rex",
  categoryId: 1,
  status: "available",
} as const;

const retryAfter: JsonObject = {
  "Retry-After": {
    description: "Seconds to wait; present exactly when nothing was changed.",
    schema: { type: "integer", format: "int32", minimum: 0 },
  },
};

/** A JSON body with this schema, and examples of it by name. */
export function json(schema: string, examples: JsonObject = {}): JsonObject {
  const values = Object.entries(examples);
  return {
    "application/json": {
      schema: { $ref: `#/components/schemas/${schema}` },
      ...values.length > 0 && {
        examples: Object.fromEntries(
          values.map(([name, value]) => [name, { value }]),
        ),
      },
    },
  };
}

/** An error response, with refusals that the service really sends as examples. */
export function refused(
  description: string,
  refusals: Readonly<Record<string, Refusal>> = {},
  headers?: JsonObject,
): JsonObject {
  const bodies = Object.entries(refusals)
    .map(([name, { body }]) => [name, JSON.parse(body)]);
  const content = json("Error", Object.fromEntries(bodies));
  return { description, ...headers && { headers }, content };
}

/** The errors to act on of every operation that needs a key. */
export const keyErrors: JsonObject = {
  "401": refused("The API key is missing or invalid.", {
    missing: missingKey,
    invalid: invalidKey,
  }),
  "429": refused(
    "The API key was used more often than the operator of the service allows.",
    { limited: tooManyRequests },
    retryAfter,
  ),
};

/** The response for all errors that an operation does not list. */
export function otherErrors(codes: readonly ErrorCode[]): JsonObject {
  const list = codes.map((code) => `${ERROR_STATUS[code]} \`${code}\``);
  const description = `Any other error: ${list.join(", ")}.`;
  return codes.includes("service_unavailable")
    ? refused(description, { unavailable }, retryAfter)
    : refused(description);
}
