/**
 * A page that shows the contract and tries it out: Swagger UI with the service's own OpenAPI document
 * and a key that its user enters. It loads nothing from any other server.
 *
 * It needs the npm package `swagger-ui-dist`; the core and the other adapters do not.
 *
 * @see docs/decisions/001-docs-page.md
 * @module
 */

import { Refusal } from "../../core/http/refusal.ts";
import { toResponse } from "../../core/http/reply.ts";
import { parseTarget } from "../../core/http/target.ts";
import { type DocsOptions, docsReplies } from "./replies.ts";

export type { DocsOptions } from "./replies.ts";

/** Answers requests for the page and its files, and any other path with `undefined`. */
export type Docs = (request: Request) => Promise<Response | undefined>;

/**
 * Reads the page's files and makes the function that answers with them. All addresses in the page are
 * relative, so it also works behind a proxy that mounts the server below a path of its own.
 *
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
 * @throws {TypeError} if a path does not begin with one `/`, or `path` ends in one.
 * @throws {Error} if the package `swagger-ui-dist` is not installed or cannot be read.
 */
export async function docs(options: DocsOptions = {}): Promise<Docs> {
  const replyTo = await docsReplies(options);
  return async function showDocs(request) {
    const target = parseTarget(request);
    if (target instanceof Refusal) return undefined;
    const reply = await replyTo(request, target.path);
    return reply && toResponse(reply, request.method);
  };
}
