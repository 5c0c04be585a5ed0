/**
 * The contract as data: an OpenAPI 3.1 document of the service. An operation lists the responses
 * that a caller acts on; `default` is any other error. The description says what holds for all
 * operations.
 */

import type { BaseUrl } from "../http/base_url.ts";
import { ERROR_STATUS, type ErrorCode } from "../http/refusal.ts";
import type { Route } from "../http/router.ts";
import type { JsonObject } from "./json_object.ts";
import { otherErrors } from "./responses.ts";
import { schemas } from "./schemas.ts";

export interface DescribedOperation extends Route {
  /**
   * All errors that it answers with. The document lists some, and combines the others in `default`.
   */
  readonly errors: readonly ErrorCode[];
  /** The operation as an OpenAPI Operation Object, without the parts that all operations share. */
  readonly description: JsonObject;
}

const DESCRIPTION = `
**Key.** Every operation on pets needs an API key, in the header \`Authorization: Bearer <API_KEY>\`.

**Integers.** \`id\`, \`categoryId\` and \`after\` are 64-bit integers, exact to the last digit, and JSON
numbers in bodies. JavaScript's \`JSON.parse\` rounds those beyond 2^53.

**Pages.** Follow the header \`Link\` with \`rel="next"\` until a response has none. Such a walk sees every
pet that existed when it began exactly once, in order.

**Errors.** Each operation lists the responses to act on; \`default\` is any other error. Branch on
\`code\`; \`message\` is for people. A refusal (4xx) has changed nothing.

**Sending again.** Listing and getting can be repeated at will, and so can a \`createPet\` with an
\`Idempotency-Key\`. One without, if it was answered 503 with \`Retry-After\`, has changed nothing; after a
500, another 503 or no answer at all, the pet may have been added: look for it with \`after\` and the
last \`id\` that you know before sending it again.

**Header fields.** A server may give every answer an \`X-Request-Id\`, and, if it limits rates, each answer
that was counted \`RateLimit\` and \`RateLimit-Policy\`. A 401 has \`WWW-Authenticate\`, a 415 \`Accept\`, a
405 \`Allow\`.

**All paths.** \`HEAD\` is answered as \`GET\`, without the body, and \`OPTIONS\` with 204 and the methods of the
path in \`Allow\`, without a key. Another method is a 405 Error, and a path that is not described here a 404
Error. A server that is shutting down may answer any request with a 503 Error and \`Retry-After\`; nothing
was changed. Query parameters and members of a body that are not described here are ignored.
`.trim();

/** Makes the OpenAPI 3.1 document of operations at a base address. */
export function openApiDocument(
  { url }: BaseUrl,
  operations: readonly DescribedOperation[],
): JsonObject {
  return {
    openapi: "3.1.1",
    info: {
      title: "Pet store",
      version: "1.0.0",
      summary: "Lists and adds pets over HTTP with JSON bodies.",
      description: DESCRIPTION,
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url }],
    tags: [
      { name: "animals", description: "The pets that the service keeps." },
      { name: "service", description: "This document, which needs no key." },
    ],
    security: [{ apiKey: [] }],
    paths: describePaths(operations),
    components: {
      schemas,
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

function describePaths(operations: readonly DescribedOperation[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const { method, path, description, errors } of operations) {
    const listed = description.responses as JsonObject;
    const others = errors.filter((code) => !(ERROR_STATUS[code] in listed));
    const responses = { ...listed, default: otherErrors(others) };
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: { ...description, responses },
    };
  }
  return paths;
}
