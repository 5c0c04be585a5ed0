/**
 * `listPets` from the side of a caller: the address of a page, and what must come back.
 *
 * @module
 */

import * as v from "valibot";
import type { Pet, PetStatus } from "../../core/pets/pet.ts";
import type { Call } from "./answer.ts";
import { isOn } from "./base_url.ts";
import type { Answer } from "./exchange.ts";
import { nextTarget, parseLinks } from "./link.ts";
import { checkBigint, petSchema, readBody } from "./pet.ts";

/** Which animals are listed. */
export interface PetsQuery {
  /** At most this many on a page: 1 to 100. */
  readonly limit?: number;
  /** Only animals with this status. */
  readonly status?: PetStatus;
  /** Only animals whose id is greater: any int64. */
  readonly after?: bigint;
}

/** Some of the animals that match. */
export interface PetsPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** The address of the next page; absent where no more animals match. */
  readonly next?: string;
}

const petsSchema: v.GenericSchema<unknown, Pet[]> = v.array(
  petSchema,
  "must be an array",
);

/** `GET /pets`, or a later page of it. */
export function listPetsCall(
  url: string,
  { origin, after }: {
    /** The origin that the next page must have too. */
    readonly origin: string;
    /** The id that all on this page must be above, where it is known. */
    readonly after?: bigint | undefined;
  },
): Call<PetsPage> {
  return {
    action: "list pets",
    isCreate: false,
    url,
    status: 200,
    read(body, answer) {
      const pets = readBody(petsSchema, body);
      if (typeof pets === "string") return pets;
      if (!isAscending(pets, after)) {
        return "the ids on the page are not ascending";
      }
      const next = nextPage(answer, origin);
      if (next === undefined) return { pets };
      if (!(next instanceof URL)) return next.problem;
      // With these two, a walk comes to an end whatever the server does.
      return pets.length === 0
        ? "the page is empty, yet it has a next one"
        : { pets, next: next.href };
    },
  };
}

/**
 * The address of a page of animals.
 *
 * @throws {TypeError} where `after` is no `bigint`.
 */
export function petsUrl(
  base: string,
  { limit, status, after }: PetsQuery,
): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set("limit", String(limit));
  if (status !== undefined) query.set("status", status);
  if (after !== undefined) {
    checkBigint(after, "after");
    query.set("after", String(after));
  }
  return query.size === 0 ? `${base}/pets` : `${base}/pets?${query}`;
}

/**
 * Checks the address of a page that a caller was given before.
 *
 * @throws {TypeError} where the key may not be sent to it.
 */
export function checkPage(page: string, origin: string): void {
  const url = URL.parse(page);
  if (url !== null && isOn(url, origin)) return;
  throw new TypeError(
    "Wrong page: it must be the next of another page, at the origin of baseUrl",
  );
}

function isAscending(pets: readonly Pet[], after: bigint | undefined): boolean {
  let last = after;
  for (const { id } of pets) {
    if (last !== undefined && id <= last) return false;
    last = id;
  }
  return true;
}

/** The address of the next page; `undefined` where there is none. */
function nextPage(
  { headers, url }: Answer,
  origin: string,
): URL | { readonly problem: string } | undefined {
  const field = headers.get("link");
  if (field === null) return undefined;
  const links = parseLinks(field);
  // Taken for no link at all, it would end a walk too early, and nobody would notice.
  if (links === undefined) return { problem: "the Link header is malformed" };
  const target = nextTarget(links);
  if (target === undefined) return undefined;
  const next = URL.parse(target, url); // RFC 3986 §5
  if (next === null) {
    return { problem: "the address of the next page is malformed" };
  }
  if (!isOn(next, origin)) {
    return {
      problem:
        "the next page is at another origin, and the key does not go there",
    };
  }
  next.hash = ""; // is not sent
  const here = new URL(url);
  here.hash = "";
  return next.href === here.href
    ? { problem: "the next page is this one again" }
    : next;
}
