/**
 * Which operation a method and a path name.
 *
 * @module
 */

import { ApiError } from "./refusal.ts";

/** The operations of the contract. */
export type OperationName = "listPets" | "createPet" | "getPet";

/** What a method and a path name. */
export type Route =
  | {
    readonly kind: "operation";
    readonly operation: OperationName;
    /** What stands in the place of `{petId}`; empty where the path has none. */
    readonly petId: string;
  }
  /** `GET /openapi.json`: the contract as data. */
  | { readonly kind: "openapi" }
  /** `OPTIONS`: which methods the path has (RFC 9110 §9.3.7). */
  | { readonly kind: "options"; readonly allow: string };

/** A path of the service, its methods, and the refusal of all others. */
interface Resource {
  readonly template: string;
  readonly operations: ReadonlyMap<string, OperationName | "openapi">;
  readonly allow: string;
  readonly methodNotAllowed: ApiError;
}

/** Finds routes under one base path. */
export interface Router {
  /** The route; a 404 where there is no such path, a 405 where it does not have the method. */
  match(method: string, path: string): Route | ApiError;
  /** The path as a template with its base, `/v1/pets/{petId}`; `undefined` where there is none. */
  template(path: string): string | undefined;
}

/**
 * Makes the router. Paths are exact and case-sensitive: one address for one thing.
 *
 * @param basePath the path before `/pets`, without a `/` at its end.
 */
export function createRouter(basePath: string): Router {
  const petsPath = `${basePath}/pets`;
  const petPrefix = `${petsPath}/`;
  const pets = resource(petsPath, { GET: "listPets", POST: "createPet" });
  const pet = resource(`${petPrefix}{petId}`, { GET: "getPet" });
  const document = resource(`${basePath}/openapi.json`, { GET: "openapi" });
  const notFound = new ApiError(
    "not_found",
    `Cannot find this path: the service has ${pets.template} and ${pet.template}, described at ${document.template}`,
  );

  function find(path: string): Resource | undefined {
    if (path === petsPath) return pets;
    const isPet = path.startsWith(petPrefix) &&
      path.length > petPrefix.length &&
      !path.includes("/", petPrefix.length);
    if (isPet) return pet;
    return path === document.template ? document : undefined;
  }

  return {
    match(method, path) {
      const found = find(path);
      if (found === undefined) return notFound;
      if (method === "OPTIONS") return { kind: "options", allow: found.allow };
      const operation = found.operations.get(
        method === "HEAD" ? "GET" : method,
      );
      if (operation === undefined) return found.methodNotAllowed;
      if (operation === "openapi") return { kind: "openapi" };
      return {
        kind: "operation",
        operation,
        petId: found === pet ? path.slice(petPrefix.length) : "",
      };
    },
    template: (path) => find(path)?.template,
  };
}

function resource(
  template: string,
  operations: Record<string, OperationName | "openapi">,
): Resource {
  const allow = Object.keys(operations).flatMap((method) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  ).concat("OPTIONS").join(", ");
  return {
    template,
    operations: new Map(Object.entries(operations)),
    allow,
    methodNotAllowed: new ApiError(
      "method_not_allowed",
      `Cannot use this method on ${template}: it has ${allow}`,
      { allow },
    ),
  };
}
