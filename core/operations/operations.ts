/** The operations of the service, and the document that describes them. */

import { parseBaseUrl } from "../http/base_url.ts";
import { DEFAULT_LIMITS } from "../http/body.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { JsonObject } from "../openapi/schemas.ts";
import { createPet, createPetAlone } from "./create_pet.ts";
import { getOpenApi } from "../openapi/get_openapi.ts";
import { getPet } from "./get_pet.ts";
import { listPets } from "./list_pets.ts";
import type { Operation } from "../operation.ts";

/** The operations, in the order of the OpenAPI document. */
export const operations: readonly Operation[] = [
  listPets,
  createPet,
  getPet,
  getOpenApi,
];

/** The operations after the removal of `getPet`. */
export const operationsWithoutGetPet: readonly Operation[] = [
  listPets,
  createPetAlone,
  getOpenApi,
];

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
  const described = getPet ? operations : operationsWithoutGetPet;
  return openApiDocument(parseBaseUrl(baseUrl), described, {
    ...DEFAULT_LIMITS,
    idempotencyRetention: 86_400_000,
  });
}
