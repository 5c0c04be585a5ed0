/**
 * The contract as data: an OpenAPI 3.1 document of the service. Its description says what applies
 * to all operations.
 */

import { type BodyLimits, ERROR_STATUS } from "../answer.ts";
import { type BaseUrl, parseBaseUrl } from "../http/base_url.ts";
import { DEFAULT_LIMITS } from "../http/body.ts";
import type { Operation } from "../operation.ts";
import { operationsOf } from "../operations.ts";
import { describeFields, describeOperation } from "./descriptions.ts";
import { headerRefs, headers, sharedErrors } from "./responses.ts";
import { type JsonObject, schemas } from "./schemas.ts";

/** What a service has, and its limits, which its document states. */
export interface Described extends BodyLimits {
  /** False after the removal of `getPet`. */
  readonly hasGetPet: boolean;
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

/**
 * Makes the OpenAPI 3.1 document that a service with the default limits returns at
 * `{baseUrl}/openapi.json`.
 *
 * @example Make the document of a deployment
 * ```ts
 * import { openApi } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const { servers } = openApi("https://api.example.com/v1");
 * assert.deepEqual(servers, [{ url: "https://api.example.com/v1" }]);
 * ```
 *
 * @param baseUrl the option `baseUrl` of `createHandler`. Default: `/v1`.
 * @param options `getPet: false` as in `createHandler`.
 * @returns the document, as JSON.
 * @throws {TypeError} if `baseUrl` is neither a path nor an absolute http(s) URL in normal form.
 */
export function openApi(
  baseUrl = "/v1",
  { getPet = true }: { readonly getPet?: boolean } = {},
): JsonObject {
  const limits = { ...DEFAULT_LIMITS, idempotencyRetention: 86_400_000 };
  return openApiDocument(parseBaseUrl(baseUrl), {
    hasGetPet: getPet,
    ...limits,
  });
}

/** Makes the OpenAPI 3.1 document of a service at a base address. */
export function openApiDocument(
  { url }: BaseUrl,
  service: Described,
): JsonObject {
  const { idempotencyRetention } = service;
  const keptFor = idempotencyRetention === undefined
    ? ""
    : `, which is kept for ${idempotencyRetention / 1000} s`;
  const paths = describePaths(service);
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

function describePaths(service: Described): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operationsOf(service)) {
    const { method, path } = operation;
    const description = describeOperation(operation, service);
    const own = description.responses as Responses;
    const responses = describeResponses(operation, own, service);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: { ...description, responses },
    };
  }
  return paths;
}

type Responses = Readonly<Record<string, JsonObject>>;

/** The responses that an operation describes itself, and those that all share. */
function describeResponses(
  operation: Operation,
  own: Responses,
  limits: BodyLimits,
): JsonObject {
  const { errors, isPublic = false } = operation;
  const others = errors.filter((code) => !(ERROR_STATUS[code] in own));
  const shared = sharedErrors([...others, "method_not_allowed"], limits);
  const ofAll = headerRefs(["X-Request-Id"]);
  const counted = isPublic ? {} : headerRefs(["RateLimit", "RateLimit-Policy"]);
  return Object.fromEntries(
    Object.entries({ ...own, ...shared }).map(([status, response]) => {
      const added = status === "405"
        ? ofAll
        : { ...describeFields(operation), ...counted, ...ofAll };
      const fields = { ...response.headers as JsonObject, ...added };
      return [status, { ...response, headers: fields }];
    }),
  );
}
