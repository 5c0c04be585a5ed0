/** Tells which requests a fault applies to. */

import {
  createRouter,
  normalizePath,
  operationsOf,
  parseBaseUrl,
} from "../../core/kit.ts";
import type { Fault, Wanted } from "./fault.ts";

/** The operations at their paths, with the header fields of all their answers. */
const ROUTES = operationsOf({ hasGetPet: true }).map((
  { method, path, isPublic = false, fields = () => ({}) },
) => ({
  method,
  path: `/v1${path}`,
  isPublic,
  fields: fields(parseBaseUrl("/v1")),
}));
const findRoute = createRouter(ROUTES);
/** The paths and templates of the service. */
export const PATHS: ReadonlySet<string> = new Set(
  ROUTES.map(({ path }) => path),
);

/** The operation `GET` of a path or template; each has one. */
export function routeOf(path: string) {
  const found = findRoute("GET", path);
  return found && "endpoint" in found ? found.endpoint : undefined;
}

/** A request, as far as `when` looks at it. */
export interface Arrived {
  readonly method: string;
  /** Normal, without the query. */
  readonly path: string;
  /** Still encoded. */
  readonly query: string;
  readonly headers: Pick<Headers, "get">;
  /** The API key; `undefined` if it is not valid. */
  readonly key: string | undefined;
  /** False after the removal of `getPet`. */
  readonly getPet: boolean;
}

/** The operation that a request is for, if any. */
export function operationOf({ method, path, getPet }: OperationRequest) {
  const found = findRoute(method, path);
  if (found === undefined || !("parameter" in found)) return undefined;
  return getPet || found.parameter === "" ? found.endpoint : undefined;
}
export type OperationRequest = Pick<Arrived, "method" | "path" | "getPet">;

/** Tells whether a fault applies to a request. */
export function appliesTo({ when }: Fault, request: Arrived): boolean {
  const { method, path, headers, key } = request;
  if (when === undefined || Object.keys(when).length === 0) {
    return operationOf(request)?.isPublic === false && method !== "HEAD" &&
      key !== undefined;
  }
  const isPreflight = method === "OPTIONS" &&
    headers.get("access-control-request-method") !== null;
  const query = new URLSearchParams(request.query);
  return (when.method === undefined ? !isPreflight : when.method === method) &&
    matches(when.path ?? path, path) &&
    (when.key ?? key) === key &&
    hasAll(when.query, (name) => query.getAll(name)) &&
    hasAll(when.headers, (name) => [headers.get(name) ?? []].flat());
}

/** Tells whether the values that a request has for each name are as wanted. */
function hasAll(
  wanted: Readonly<Record<string, Wanted>> = {},
  valuesOf: (name: string) => readonly string[],
): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    const values = valuesOf(name);
    return typeof value === "string"
      ? values.includes(value)
      : value === values.length > 0;
  });
}

/** Tells whether a normal path is this one, however it is written, or fits this template. */
export function matches(wanted: string, path: string): boolean {
  return normalizePath(wanted) === path ||
    wanted.endsWith("}") && routeOf(wanted) === routeOf(path);
}
