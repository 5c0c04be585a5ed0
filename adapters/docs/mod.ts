/**
 * A page that shows the contract and tries it out: Swagger UI with the service's own OpenAPI document
 * and a key that its user enters. It loads nothing from any other server.
 *
 * It needs the npm package `swagger-ui-dist`; the core and the other adapters do not.
 *
 * @see docs/decisions/001-docs-page.md
 * @module
 */

import { toResponse } from "../../core/http/message.ts";
import { Refusal } from "../../core/http/refusal.ts";
import { createRouter } from "../../core/http/router.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { createPipeline } from "../../core/service.ts";
import { createPage, type DocsOptions } from "./page_endpoints.ts";

export type { DocsOptions } from "./page_endpoints.ts";

/** Answers requests for the page and its files, and any other path with `undefined`. */
export type Docs = (request: Request) => Promise<Response | undefined>;

/**
 * Reads the page's files and makes the function that answers with them. All addresses in the page are
 * relative, so it also works behind a proxy that mounts the server below a path of its own.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { docs } from "@petstore/service/docs";
 *
 * const showDocs = await docs({ openApiUrl: "/v1/openapi.json" });
 * const page = await showDocs(new Request("http://localhost/docs"));
 * assert.equal(page?.headers.get("content-type"), "text/html; charset=utf-8");
 * const other = await showDocs(new Request("http://localhost/v1/pets"));
 * assert.equal(other, undefined); // for the service to answer
 * ```
 *
 * @throws {TypeError} if an option is unknown, a path does not begin with one `/`, or `path` ends in one.
 * @throws {Error} if the package `swagger-ui-dist` is not installed or cannot be read.
 */
export async function docs(options: DocsOptions = {}): Promise<Docs> {
  const { endpoints, load } = createPage(options);
  await load();
  const find = createRouter(endpoints);
  const service = createPipeline(
    (method, path) => find(method, path) ?? notHere,
    { keys: apiKeys([]), onError: console.error },
  );
  return async function showDocs(request) {
    const answer = await service(request);
    // Without a route: neither the page nor one of its files.
    if (answer.route === undefined) return undefined;
    return toResponse(answer, request.method);
  };
}

const notHere = new Refusal("not_found", "Cannot find this path");
