/**
 * The contract as data: an OpenAPI 3.1 document of the service. Its description says what applies
 * to all operations.
 */

import type { BaseUrl } from "../http/base_url.ts";
import type { BodyLimits, ErrorCode } from "../answer.ts";
import { ERROR_STATUS } from "../errors.ts";
import type { Route } from "../router.ts";
import { headerRefs, headers, sharedErrors } from "./responses.ts";
import { type JsonObject, schemas } from "./schemas.ts";

export interface DescribedOperation extends Route {
  /** All errors that it answers with, except 405. */
  readonly errors: readonly ErrorCode[];
  /** The operation as an OpenAPI Operation Object, without the parts that all operations share. */
  readonly description: JsonObject;
  /** Header fields of all its responses, except 405. */
  readonly headers?: JsonObject;
  /** If true, it is answered without an API key. */
  readonly isPublic?: boolean;
}

/** The limits of a service, which its document states. */
export interface DescribedLimits extends BodyLimits {
  /** How long the storage keeps an `Idempotency-Key`, in ms, if known. */
  readonly idempotencyRetention?: number | undefined;
}

const describe = (keptFor: string) =>
  `
**Key.** Every operation on pets needs an API key, in the header \`Authorization: Bearer <API_KEY>\`.

**Integers.** \`id\`, \`categoryId\` and \`after\` are 64-bit integers, exact to the last digit, and JSON
numbers in bodies. JavaScript's \`JSON.parse\` rounds those beyond 2^53.

**Pages.** Follow the header \`Link\` with \`rel="next"\` until a response has none. Such a walk sees every
pet that existed when it began exactly once, in order.

**Errors.** Branch on \`code\`; \`message\` is for people. A refusal (4xx) has changed nothing.

**Sending again.** Listing and getting can be repeated at will, and so can a \`createPet\` with an
\`Idempotency-Key\`${keptFor}. One without, if it was answered 503 with \`Retry-After\`, has changed nothing; after a
500, another 503 or no answer at all, the pet may have been added: look for it with \`after\` and the
last \`id\` that you know before sending it again.

**All paths.** \`HEAD\` is answered as \`GET\`, without the body, and \`OPTIONS\` with 204 and the methods of the
path in \`Allow\`, without a key. A path that is not described here is answered with a 404
Error. A server that is shutting down may answer any request with a 503 Error and \`Retry-After\`; nothing
was changed. Query parameters and members of a body that are not described here are ignored, and so is
\`Accept\`: every body is JSON.
`.trim();

/** Makes the OpenAPI 3.1 document of operations at a base address. */
export function openApiDocument(
  { url }: BaseUrl,
  operations: readonly DescribedOperation[],
  limits: DescribedLimits,
): JsonObject {
  const { idempotencyRetention } = limits;
  const keptFor = idempotencyRetention === undefined
    ? ""
    : `, which is kept for ${idempotencyRetention / 1000} s`;
  const paths = describePaths(operations, limits);
  const text = JSON.stringify(paths);
  const isUsed = (name: string) =>
    text.includes(`"#/components/headers/${name}"`);
  return {
    openapi: "3.1.1",
    info: {
      title: "Pet store",
      version: "1.0.0",
      summary: "Lists and adds pets over HTTP with JSON bodies.",
      description: describe(keptFor),
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url }],
    tags: [
      { name: "animals", description: "The pets that the service keeps." },
      { name: "service", description: "This document, which needs no key." },
    ],
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => isUsed(name)),
      ),
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

function describePaths(
  operations: readonly DescribedOperation[],
  limits: DescribedLimits,
): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const { method, path, description } = operation;
    const responses = describeResponses(operation, limits);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: { ...description, responses },
    };
  }
  return paths;
}

/** The responses that an operation describes itself, and those that all share. */
function describeResponses(
  { description, errors, headers = {}, isPublic = false }: DescribedOperation,
  limits: DescribedLimits,
): JsonObject {
  const own = description.responses as Readonly<Record<string, JsonObject>>;
  const others = errors.filter((code) => !(ERROR_STATUS[code] in own));
  const shared = sharedErrors([...others, "method_not_allowed"], limits);
  const ofAll = headerRefs(["X-Request-Id"]);
  const counted = isPublic ? {} : headerRefs(["RateLimit", "RateLimit-Policy"]);
  return Object.fromEntries(
    Object.entries({ ...own, ...shared }).map(([status, response]) => {
      const added = status === "405"
        ? ofAll
        : { ...headers, ...counted, ...ofAll };
      const fields = { ...response.headers as JsonObject, ...added };
      return [status, { ...response, headers: fields }];
    }),
  );
}
