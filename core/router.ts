/** Finds the endpoint for a method and path, or answers `OPTIONS` or 405. */

import type { Answer } from "./answer.ts";
import { methodNotAllowed } from "./errors.ts";
import type { Endpoint } from "./operation.ts";

/** What the router needs to know of an endpoint. */
export type Routed = Pick<Endpoint, "method" | "path">;

/** An endpoint, and the segment in place of its template's parameter; empty if it has none. */
export interface Found<E extends Routed> {
  /** The endpoint. */
  readonly endpoint: E;
  /** The segment, as it was sent. */
  readonly parameter: string;
}

/** Finds an endpoint, or answers `OPTIONS` or 405; `undefined` if no endpoint has the path. */
export type Router<E extends Routed> = (
  method: string,
  path: string,
) => Found<E> | Answer | undefined;

/**
 * Makes the router. Paths are exact and case-sensitive: one address for one thing. The parameter of
 * a template matches one non-empty segment.
 */
export function createRouter<E extends Routed>(
  endpoints: readonly E[],
): Router<E> {
  // By path. In a template a "?", which no path contains, replaces the parameter: `/v1/pets/?`.
  const byPath = new Map<string, Router<E>>();
  // Not `Map.groupBy`: a router is made before a runtime that lacks it can be refused in words.
  for (const path of new Set(endpoints.map(({ path }) => path))) {
    const found = forPath(path, endpoints.filter((one) => one.path === path));
    byPath.set(path.replace(/\{.*/, "?"), found);
  }

  return (method, path) => {
    const exact = byPath.get(path);
    if (exact !== undefined) return exact(method, "");
    const start = path.lastIndexOf("/") + 1;
    const last = path.slice(start);
    return byPath.get(path.slice(0, start) + (last && "?"))?.(method, last);
  };
}

/** Makes the router of endpoints that share a path; it receives their parameter. */
function forPath<E extends Routed>(
  path: string,
  endpoints: readonly E[],
): Router<E> {
  const byMethod = new Map<string, E>();
  for (const endpoint of endpoints) {
    byMethod.set(endpoint.method, endpoint);
    // HEAD is GET without the body (RFC 9110 §9.3.2).
    if (endpoint.method === "GET") byMethod.set("HEAD", endpoint);
  }
  const allow = [...byMethod.keys(), "OPTIONS"].join(", "); // RFC 9110 §10.2.1
  const refusal = { ...methodNotAllowed(path, allow), route: path };
  const headers = Object.freeze({ allow }); // many answers share it
  const options = { status: 204, headers, body: null, route: path }; // RFC 9110 §9.3.7
  return (method, parameter) => {
    const endpoint = byMethod.get(method);
    if (endpoint !== undefined) return { endpoint, parameter };
    return method === "OPTIONS" ? options : refusal;
  };
}
