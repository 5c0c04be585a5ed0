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
import { parseTarget } from "../../core/http/target.ts";
import { type DocsOptions, docsRoutes, loadDocs } from "./routes.ts";

export type { DocsOptions } from "./routes.ts";

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
  const routes = docsRoutes(options);
  await loadDocs(routes);
  const find = createRouter(routes);
  return async function showDocs(request) {
    const target = parseTarget(request);
    if (target instanceof Refusal) return undefined;
    const found = find(request.method, target.path);
    if (found === undefined) return undefined;
    const answer = "status" in found
      ? found
      : await found.route.answer(request);
    return toResponse(answer, request.method);
  };
}
