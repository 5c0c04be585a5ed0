/** Where a request goes: to an operation, or to a reply that is known already. */

import type { Operation } from "../operation.ts";
import { Refusal } from "./refusal.ts";
import type { Reply } from "./reply.ts";

/** What a method and a path lead to. */
export type Route =
  | {
    /** The path as a template with its base, `/v1/pets/{petId}`. */
    readonly template: string;
    readonly operation: Operation;
    /** The path segment that stands for the parameter; empty if the template has none. */
    readonly parameter: string;
  }
  | {
    /** Absent if there is no such path. */
    readonly template?: string;
    /** A 404, a 405, or the answer to `OPTIONS`. */
    readonly reply: Reply;
  };

/** Finds the route of a method and a path. */
export type Router = (method: string, path: string) => Route;

/** A path of the service. */
interface Resource {
  /** By method; `HEAD` is as `GET`, without the body (RFC 9110 §9.3.2). */
  readonly routes: ReadonlyMap<string, Route>;
  readonly methodNotAllowed: Route;
}

/**
 * Makes the router. Paths are exact and case-sensitive: one address for one thing. A template may end
 * in one parameter, `/{petId}`, which stands for one segment that is not empty.
 *
 * @param basePath the path before `/pets`, without a `/` at its end.
 */
export function createRouter(
  basePath: string,
  operations: readonly Operation[],
): Router {
  const exact = new Map<string, Resource>();
  const prefixes: (readonly [string, Resource])[] = [];
  const templates = [...new Set(operations.map(({ path }) => path))];
  for (const path of templates) {
    const resource = createResource(
      basePath + path,
      operations.filter((operation) => operation.path === path),
    );
    const parameter = path.indexOf("{");
    if (parameter < 0) exact.set(basePath + path, resource);
    else prefixes.push([basePath + path.slice(0, parameter), resource]);
  }
  const notFound: Route = { reply: pathNotFound(basePath, templates) };

  return (method, path) => {
    const resource = exact.get(path);
    if (resource !== undefined) {
      return resource.routes.get(method) ?? resource.methodNotAllowed;
    }
    for (const [prefix, { routes, methodNotAllowed }] of prefixes) {
      const { length } = prefix;
      const isBelow = path.startsWith(prefix) && path.length > length &&
        !path.includes("/", length);
      if (!isBelow) continue;
      const route = routes.get(method) ?? methodNotAllowed;
      if ("reply" in route) return route;
      const { template, operation } = route;
      return { template, operation, parameter: path.slice(length) };
    }
    return notFound;
  };
}

function createResource(
  template: string,
  operations: readonly Operation[],
): Resource {
  const allow = allowed(operations);
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const route = { template, operation, parameter: "" };
    routes.set(operation.method, route);
    if (operation.method === "GET") routes.set("HEAD", route);
  }
  // RFC 9110 §9.3.7
  const options = { status: 204, headers: { allow }, body: null };
  routes.set("OPTIONS", { template, reply: options });
  const methodNotAllowed = wrongMethod(template, allow);
  return { routes, methodNotAllowed: { template, reply: methodNotAllowed } };
}

/** The value of `Allow` (RFC 9110 §10.2.1) for a path with these operations. */
function allowed(operations: readonly Operation[]): string {
  const methods = operations.flatMap(({ method }) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  );
  return [...methods, "OPTIONS"].join(", ");
}

/** The 405 of a path. */
function wrongMethod(template: string, allow: string): Refusal {
  return new Refusal(
    "method_not_allowed",
    `Cannot use this method on ${template}: it has ${allow}`,
    { allow },
  );
}

function pathNotFound(basePath: string, templates: readonly string[]): Refusal {
  const paths = templates.map((path) => basePath + path);
  const described = paths.pop();
  return new Refusal(
    "not_found",
    `Cannot find this path: the service has ${
      paths.join(" and ")
    }, described at ${described}`,
  );
}
