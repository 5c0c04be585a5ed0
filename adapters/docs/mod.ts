/**
 * A page that shows the contract and lets users try it: Swagger UI with the service's own OpenAPI
 * document and a key that the user enters. It loads nothing from any other server.
 *
 * It needs the npm package `swagger-ui-dist`; the core and the other adapters do not.
 *
 * @see docs/decisions/001-docs-page.md
 * @module
 */

import type { Endpoint } from "../../core/kit.ts";
import { createPage, type DocsOptions } from "./page_endpoints.ts";

export type { Call, Endpoint } from "../../core/kit.ts";
export type { DocsOptions } from "./page_endpoints.ts";

/**
 * Reads the page's files, on Deno, Bun and Node: Workers and bundles have none. All addresses in
 * the page are relative, so it also works behind a proxy that mounts the server at a different path.
 *
 * @example
 * ```ts
 * import { docs } from "@petstore/service/docs";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   endpoints: await docs({ openApiUrl: "/v1/openapi.json" }),
 * });
 * const page = await handle(new Request("http://localhost/docs"));
 * assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
 * ```
 *
 * @param options where the page and the OpenAPI document are.
 * @returns the page and its files, which need no API key: the option `endpoints` of `createHandler`.
 * @throws {TypeError} if an option is unknown, a path does not begin with one `/`, or `path` ends
 * in one.
 * @throws {Error} if the package `swagger-ui-dist` is not installed or cannot be read.
 */
export async function docs(
  options: DocsOptions = {},
): Promise<readonly Endpoint[]> {
  const { endpoints, load } = createPage(options);
  await load();
  return endpoints;
}
