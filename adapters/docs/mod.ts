/**
 * A page that shows the contract and lets users try it: Swagger UI with the service's own OpenAPI
 * document and a key that the user enters. It loads nothing from any other server.
 *
 * It needs the npm package `swagger-ui-dist`; the core and the other adapters do not.
 *
 * @see docs/decisions/001-docs-page.md
 * @module
 */

import {
  createPipeline,
  createRouter,
  type Endpoint,
  Refusal,
  toResponse,
  webBody,
} from "../../core/kit.ts";
import { traceLayer } from "../layers/tracing.ts";
import { createPage, type DocsOptions } from "./page_endpoints.ts";

export type { Call, Endpoint } from "../../core/kit.ts";
export type { DocsOptions } from "./page_endpoints.ts";

/** The page and its files, which need no API key. */
export interface Docs {
  /** Answers requests for the page and its files, and any other path with `undefined`. */
  (request: Request): Promise<Response | undefined>;
  /**
   * The page and its files as parts of a service: pass all of this as the option `docs` of
   * `createHandler`.
   */
  readonly endpoints: readonly Endpoint[];
  /** The path of the OpenAPI document that the page loads; `createHandler` checks it. */
  readonly openApiUrl: string;
}

/**
 * Reads the page's files, on Deno, Bun and Node: Workers and bundles have none. All addresses in
 * the page are relative, so it also works behind a proxy that mounts the server at a different path.
 *
 * @example As part of the service
 * ```ts
 * import { docs } from "@petstore/service/docs";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   docs: await docs({ openApiUrl: "/v1/openapi.json" }),
 * });
 * const page = await handle(new Request("http://localhost/docs"));
 * assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
 * ```
 *
 * @example Separate from the service
 * ```ts
 * import { docs } from "@petstore/service/docs";
 * import assert from "node:assert/strict";
 *
 * const showDocs = await docs({ openApiUrl: "/v1/openapi.json" });
 * const page = await showDocs(new Request("http://localhost/docs"));
 * assert.equal(page?.headers.get("content-type"), "text/html; charset=utf-8");
 * const other = await showDocs(new Request("http://localhost/v1/pets"));
 * assert.equal(other, undefined); // for the service to answer
 * ```
 *
 * @param options where the page and the OpenAPI document are.
 * @returns the page, to pass to `createHandler`, or to call with each request.
 * @throws {TypeError} if an option is unknown, a path does not begin with one `/`, or `path` ends
 * in one.
 * @throws {Error} if the package `swagger-ui-dist` is not installed or cannot be read.
 */
export async function docs(options: DocsOptions = {}): Promise<Docs> {
  const { endpoints, openApiUrl, load } = createPage(options);
  await load();
  const find = createRouter(endpoints);
  const service = traceLayer(createPipeline(
    (method, path) => find(method, path) ?? notHere,
    { keys: { verify: async () => false }, onError: console.error },
  ));
  async function showDocs(request: Request): Promise<Response | undefined> {
    const answer = await service(request, undefined, webBody(request));
    // Without a route it is neither the page nor one of its files.
    if (answer.route === undefined) return undefined;
    return toResponse(answer, request.method);
  }
  return Object.assign(showDocs, { endpoints, openApiUrl });
}

const notHere = new Refusal("not_found", "Cannot find this path");
