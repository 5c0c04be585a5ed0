/**
 * The contract as data: an OpenAPI 3.1 document of the service.
 *
 * It declares every response to every path that it has. `OPTIONS` and the document itself have a tag of
 * their own, so that generated clients can leave them out. `HEAD` and the 404 of any other path are said in
 * words. `tests/laws/openapi_test.ts` holds the document and the running service against each other.
 */

import { type BaseUrl, parseBaseUrl } from "../http/base_url.ts";
import { allowed, wrongMethod } from "../http/route.ts";
import { operations } from "../operations.ts";
import { SERVICE_TAG } from "./get_openapi.ts";
import type { JsonObject } from "../operation.ts";
import {
  errors,
  fields,
  headers,
  hostErrors,
  withFields,
} from "./responses.ts";
import { OPENAPI_VERSION, schemas } from "./schemas.ts";

const DESCRIPTION = `
**Key.** Every operation on pets needs an API key, in the header \`Authorization: Bearer <API_KEY>\`.

**Integers.** \`id\`, \`categoryId\` and \`after\` are 64-bit integers, exact to the last digit, and JSON
numbers in bodies. JavaScript's \`JSON.parse\` rounds those beyond 2^53: read them with a parser that
does not.

**Pages.** Follow the header \`Link\` with \`rel="next"\` until a response has none. Such a walk sees every
pet that existed when it began exactly once, in order.

**Errors.** Every error has a body of \`code\`, \`message\` and \`status\`. Branch on \`code\`; \`message\` is for
people. A refusal (4xx) has changed nothing.

**Sending again.** To list or to get can be repeated at will, and so can a \`createPet\` with an
\`Idempotency-Key\`: it adds one pet, however often it is sent. One without, if it was answered 503 with
\`Retry-After\`, has changed nothing and can be sent again; after a 500, a 503 without \`Retry-After\`, or
no answer at all, the pet may have been added: look for it with \`after\` and the last \`id\` that you
know before sending it again.

**All paths.** \`HEAD\` is answered as \`GET\`, without the body. A path that is not described here is a 404
Error. A server that is shutting down may answer any request with a 503 Error and \`Retry-After\`; nothing
was changed. Query parameters and members of a body that are not described here are ignored.
`.trim();

/** Names by path. */
const PATHS: Readonly<Record<string, string>> = {
  "/pets": "Pets",
  "/pets/{petId}": "Pet",
  "/openapi.json": "OpenApi",
};

/** The `Allow` of each path by its name in the document. */
const allowFields: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PATHS).map(([path, name]) => [
    `${name}-Allow`,
    allowed(operations.filter((operation) => operation.path === path)),
  ]),
);

/**
 * Makes the OpenAPI 3.1 document of a service with this `baseUrl`, as `GET {baseUrl}/openapi.json`
 * answers it.
 *
 * @param baseUrl as the option of `createHandler`. Default: `/v1`.
 * @throws {TypeError} if it is neither a path nor an absolute http(s) URL in normal form.
 */
export function openApi(baseUrl = "/v1"): JsonObject {
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
    paths: Object.fromEntries(
      Object.keys(PATHS).map((path) => [path, pathItem(path, base)]),
    ),
    components: {
      schemas,
      headers: headers(base, allowFields),
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

/** The operations of a path, with the 400 for a malformed `Host`, the 405, and `OPTIONS`. */
function pathItem(path: string, base: BaseUrl): JsonObject {
  const name = PATHS[path];
  const allow = allowFields[`${name}-Allow`] ?? "";
  const allowField = fields(`Allow: ${name}-Allow`);
  const hostRefused = errors([hostErrors]);
  const refusal = wrongMethod(base.path + path, allow);
  const methodRefused = withFields(
    errors([{
      code: "method_not_allowed",
      when: "Another method was used on this path.",
      examples: {
        method: ["A method that the path does not have", refusal],
      },
    }]),
    allowField,
  );
  const described = operations.filter((operation) => operation.path === path)
    .map(({ method, description }) => [method.toLowerCase(), {
      ...description,
      responses: {
        ...hostRefused,
        ...description.responses as JsonObject,
        ...methodRefused,
      },
    }]);
  return {
    ...Object.fromEntries(described),
    options: {
      summary: "Get the methods of this path",
      description:
        "Returns the methods of this path in `Allow`. It needs no key.",
      tags: [SERVICE_TAG],
      security: [],
      operationId: `options${name}`,
      ...path.includes("{petId}") && {
        parameters: [{
          name: "petId",
          in: "path",
          required: true,
          description: "Any text: the pet is not looked up.",
          schema: { type: "string", minLength: 1 },
          example: "7",
        }],
      },
      responses: {
        "204": {
          description: "The methods are in `Allow`.",
          headers: allowField,
        },
        ...hostRefused,
      },
    },
  };
}
