/** Where the service is mounted, and the links that follow from it. */

import type { PetId } from "../pets/pet.ts";

/** The base address, taken apart. */
export interface BaseUrl {
  /** The path before `/pets`: empty, or begins with `/` and does not end in one. */
  readonly path: string;
  /** The address of a pet, for a response of `/pets`. */
  pet(id: PetId): string;
  /** The address of a page of pets, for a response of `/pets`. */
  page(query: string): string;
  /** The address of all pets, for a response of `/pets/{petId}`. */
  readonly pets: string;
}

/**
 * Reads the option `baseUrl`. Links are absolute under an absolute URL. Under a path they are
 * relative references (RFC 3986 §4.2), which are right behind any proxy and mount. They are never made
 * from the `Host` header, so a forged one misleads nobody.
 *
 * @throws {TypeError} if it is neither a path nor an absolute http(s) URL in normal form.
 */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const path = parsePath(baseUrl);
  if (baseUrl.startsWith("/")) {
    return {
      path,
      pet: (id) => `pets/${id}`,
      page: (query) => `?${query}`,
      pets: "../pets",
    };
  }
  const pets = `${new URL(baseUrl).origin}${path}/pets`;
  return {
    path,
    pet: (id) => `${pets}/${id}`,
    page: (query) => `${pets}?${query}`,
    pets,
  };
}

function parsePath(baseUrl: string): string {
  const isPath = baseUrl.startsWith("/");
  const url = URL.parse(baseUrl, isPath ? "http://localhost" : undefined);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw wrong(
      baseUrl,
      'it must be a path such as "/v1" or an absolute http or https URL',
    );
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(baseUrl)) {
    throw wrong(baseUrl, "it must have no user, no query and no fragment");
  }
  const path = url.pathname === "/" ? "" : url.pathname;
  if (isPath ? baseUrl !== url.pathname : !baseUrl.endsWith(path)) {
    throw wrong(
      baseUrl,
      `its path must be written in normal form, ${
        JSON.stringify(url.pathname)
      }`,
    );
  }
  if (path.endsWith("/") || path.includes("//")) {
    throw wrong(baseUrl, 'its path must not end in "/" nor contain "//"');
  }
  return path;
}

function wrong(baseUrl: string, reason: string): TypeError {
  return new TypeError(`Wrong baseUrl ${JSON.stringify(baseUrl)}: ${reason}`);
}
