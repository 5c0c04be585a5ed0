/**
 * `listPets` on the client's side: the address of a page, and the check of what comes back.
 *
 * @module
 */

import * as v from "valibot";
import type { Pet, PetStatus } from "../../core/pets/pet.ts";
import type { Call } from "./answer.ts";
import type { Answer } from "./exchange.ts";
import { nextTarget, parseLinks } from "./link.ts";
import { isOn, type Settings } from "./options.ts";
import { checkBigint, petSchema, readBody } from "./pet.ts";

/** Which pets are listed. */
export interface PetsQuery {
  /** At most this many on a page: 1 to 100. */
  readonly limit?: number;
  /** Only pets with this status. */
  readonly status?: PetStatus;
  /** Only pets with a greater id: any int64. */
  readonly after?: bigint;
}

/** Some of the pets that match. */
export interface PetsPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** The address of the next page; absent if no more pets match. */
  readonly next?: string;
}

const petsSchema: v.GenericSchema<unknown, Pet[]> = v.array(
  petSchema,
  "must be an array",
);

/**
 * `GET /pets`.
 *
 * @param page which pets, or the address of a page.
 * @param after what all ids on the page must be above, if that is known.
 * @throws {TypeError} if the key may not be sent to that address, or `after` is not a `bigint`.
 */
export function listPetsCall(
  page: PetsQuery | string,
  { base, origin }: Settings,
  after = typeof page === "string" ? undefined : page.after,
): Call<PetsPage> {
  return {
    action: "list pets",
    isCreate: false,
    url: typeof page === "string"
      ? checkPage(page, origin)
      : pageUrl(base, page),
    read(body, answer) {
      const pets = readBody(petsSchema, body);
      if (typeof pets === "string") return pets;
      const isAscending = pets.every(({ id }, i) =>
        id > (pets[i - 1]?.id ?? after ?? 0n)
      );
      if (!isAscending) return "the ids on the page are not ascending";
      const next = nextPage(answer, origin);
      if (next === undefined) return { pets };
      if (typeof next === "string") return next;
      // Both checks together end a walk whatever the server does.
      return pets.length === 0
        ? "the page is empty, yet it has a next one"
        : { pets, next: next.href };
    },
  };
}

function pageUrl(base: string, { limit, status, after }: PetsQuery): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set("limit", String(limit));
  if (status !== undefined) query.set("status", status);
  if (after !== undefined) {
    checkBigint(after, "after");
    query.set("after", String(after));
  }
  return query.size === 0 ? `${base}/pets` : `${base}/pets?${query}`;
}

function checkPage(page: string, origin: string): string {
  const url = URL.parse(page);
  if (url !== null && isOn(url, origin)) return page;
  throw new TypeError(
    "Wrong page: it must be the next of another page, at the origin of baseUrl",
  );
}

/** The address of the next page, if there is one; a text says what is wrong with it. */
function nextPage(
  { headers, url }: Answer,
  origin: string,
): URL | string | undefined {
  const field = headers.get("link");
  if (field === null) return undefined;
  const links = parseLinks(field);
  // If it were ignored, a walk would end too early, and nobody would notice.
  if (links === undefined) return "the Link header is malformed";
  const target = nextTarget(links);
  if (target === undefined) return undefined;
  const next = URL.parse(target, url); // RFC 3986 §5
  if (next === null) return "the address of the next page is malformed";
  if (!isOn(next, origin)) {
    return "the next page is at another origin, and the key does not go there";
  }
  next.hash = ""; // is not sent
  const isThisPage = next.href === URL.parse("", url)?.href;
  return isThisPage ? "the next page is this one again" : next;
}
