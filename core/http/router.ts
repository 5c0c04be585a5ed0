/** From a method and a path to a route, or to the answer of a path that does not have the method. */

import type { Answer } from "./message.ts";
import { Refusal } from "./refusal.ts";

/** A method on a path. */
export interface Route {
  readonly method: "GET" | "POST";
  /** The path, or a template that ends in one parameter: `/v1/pets/{petId}`. */
  readonly path: string;
}

/** A route, and the path segment that stands for its parameter: empty if it has none. */
export interface Match<R extends Route> {
  readonly route: R;
  readonly parameter: string;
}

/** Finds a route, or answers `OPTIONS` or 405; `undefined` if no route has the path. */
export type Router<R extends Route> = (
  method: string,
  path: string,
) => Match<R> | Answer | undefined;

/** Finds a route of one path. */
type Resource<R extends Route> = (
  method: string,
  parameter: string,
) => Match<R> | Answer;

/**
 * Makes the router. Paths are exact and case-sensitive: one address for one thing. The parameter of a
 * template stands for one segment that is not empty.
 */
export function createRouter<R extends Route>(
  routes: readonly R[],
): Router<R> {
  const exact = new Map<string, Resource<R>>();
  const prefixes: (readonly [string, Resource<R>])[] = [];
  for (const path of new Set(routes.map(({ path }) => path))) {
    const resource = toResource(routes.filter((route) => route.path === path));
    const parameter = path.indexOf("{");
    if (parameter < 0) exact.set(path, resource);
    else prefixes.push([path.slice(0, parameter), resource]);
  }

  return (method, path) => {
    const resource = exact.get(path);
    if (resource !== undefined) return resource(method, "");
    for (const [prefix, resource] of prefixes) {
      const parameter = path.startsWith(prefix)
        ? path.slice(prefix.length)
        : "";
      if (parameter === "" || parameter.includes("/")) continue;
      return resource(method, parameter);
    }
    return undefined;
  };
}

/** Makes the resource of routes that share a path. */
function toResource<R extends Route>(routes: readonly R[]): Resource<R> {
  const byMethod = new Map<string, R>();
  for (const route of routes) {
    byMethod.set(route.method, route);
    // As GET, without the body (RFC 9110 §9.3.2).
    if (route.method === "GET") byMethod.set("HEAD", route);
  }
  const { path = "" } = routes[0] ?? {};
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
