/** Finds the route for a method and path, or answers `OPTIONS` or 405. */

import type { Answer } from "./answer.ts";
import { Refusal } from "./errors.ts";

/** A method on a path. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path, or a template that ends in one parameter: `/v1/pets/{petId}`. */
  readonly path: string;
}

/** A route that was found. */
export interface Found<R extends Route> {
  readonly route: R;
  /** The segment in place of a template's parameter; empty if the path is not a template. */
  readonly parameter: string;
}

/** Finds a route, or answers `OPTIONS` or 405; `undefined` if no route has the path. */
export type Router<R extends Route> = (
  method: string,
  path: string,
) => Found<R> | Answer | undefined;

/**
 * Makes the router. Paths are exact and case-sensitive: one address for one thing. The parameter of
 * a template matches one non-empty segment.
 */
export function createRouter<R extends Route>(routes: readonly R[]): Router<R> {
  // By path. In a template a "?", which no path contains, replaces the parameter: `/v1/pets/?`.
  const byPath = new Map<string, Router<R>>();
  // Not `Map.groupBy`: a router is made before Node 20, which lacks it, can be refused in words.
  for (const path of new Set(routes.map(({ path }) => path))) {
    const found = forPath(path, routes.filter((route) => route.path === path));
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

/** Makes the router of routes that share a path; it receives their parameter. */
function forPath<R extends Route>(
  path: string,
  routes: readonly R[],
): Router<R> {
  const byMethod = new Map<string, R>();
  for (const route of routes) {
    byMethod.set(route.method, route);
    // HEAD is GET without the body (RFC 9110 §9.3.2).
    if (route.method === "GET") byMethod.set("HEAD", route);
  }
  const allow = [...byMethod.keys(), "OPTIONS"].join(", "); // RFC 9110 §10.2.1
  const message = `Method not allowed on ${path}; allowed: ${allow}`;
  const refusal = new Refusal("method_not_allowed", message, { allow });
  const methodNotAllowed = { ...refusal, route: path };
  const options = { status: 204, headers: { allow }, body: null, route: path }; // RFC 9110 §9.3.7
  return (method, parameter) => {
    const route = byMethod.get(method);
    if (route !== undefined) return { route, parameter };
    return method === "OPTIONS" ? options : methodNotAllowed;
  };
}
